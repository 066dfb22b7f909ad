import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLockout, type Lockout } from '../../src/access/lockout.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { createManualClock } from '../manual-clock.ts';
import { ownRowsBy } from '../neighbor.ts';

const clock = createManualClock(Date.parse('2030-01-01T00:00:00Z'));
const ip = '192.0.2.1';

let database: Database;
let lockout: Lockout;
beforeEach(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
  lockout = createLockout(database, clock);
});
afterEach(() => database.close());

/** Attempts to sign in with a wrong password. Resolves to whether the attempt was let through. */
async function fail(email: string, from = ip, process = lockout): Promise<boolean> {
  return !('waitS' in (await process.count({ email, ip: from })));
}

async function succeed(email: string, from = ip): Promise<void> {
  const counted = await lockout.count({ email, ip: from });
  if ('waitS' in counted) throw new Error('The attempt was not let through.');
  await counted.succeed();
}

/** Guesses from the IP until it is locked. */
async function lockIp(): Promise<void> {
  for (let guess = 0; guess < 20; guess += 1) await fail(`victim-${guess}@example.com`);
}

test('a sign-in forgives the failures of its user, not those of its IP', async () => {
  for (let guess = 0; guess < 19; guess += 1) await fail(`victim-${guess}@example.com`);
  for (let guess = 0; guess < 49; guess += 1) await fail('ann@example.com', `198.51.100.${guess}`);
  await succeed('ann@example.com');
  expect(await fail('victim@example.com')).toBe(true);
  expect(await fail('victim@example.com')).toBe(false);
  expect(await fail('ann@example.com', '203.0.113.1')).toBe(true);
  expect(await fail('ann@example.com', '203.0.113.2')).toBe(true);
});

test('a single sign-on forgives no failures, and ends no lock', async () => {
  for (let guess = 0; guess < 4; guess += 1) await fail('ann@example.com');
  for (let guess = 0; guess < 49; guess += 1) await fail('bob@example.com', `198.51.100.${guess}`);
  await lockout.remember({ email: 'ann@example.com', ip });
  await lockout.remember({ email: 'bob@example.com', ip });
  expect(await fail('ann@example.com')).toBe(true);
  expect(await fail('ann@example.com')).toBe(false);
  expect(await fail('bob@example.com', '203.0.113.1')).toBe(true);
  expect(await fail('bob@example.com', '203.0.113.2')).toBe(false);
  await lockout.remember({ email: 'ann@example.com', ip });
  expect(await fail('ann@example.com', ip, createLockout(database, clock))).toBe(false);
});

test('a process that has just started lets those pass who have signed in from a locked IP', async () => {
  await succeed('ann@example.com');
  await succeed('bob@example.com', '203.0.113.1');
  await lockIp();
  const started = createLockout(database, clock);
  for (const [email, isLetThrough] of [
    ['ann@example.com', true],
    ['bob@example.com', false],
    ['victim-1@example.com', false],
    ['new@example.com', false],
  ] as const) {
    // A locked IP costs one look into the database per second.
    clock.advance(1_000);
    expect(await fail(email, ip, started), email).toBe(isLetThrough);
  }
});

test('an operator unlocks an IP, which a process notices within five seconds', async () => {
  await lockIp();
  expect(await fail('new@example.com')).toBe(false);
  await database.query(`DELETE FROM sign_in_attempts WHERE ${ownRowsBy('subject')}`);
  clock.advance(5_000);
  expect(await fail('new@example.com')).toBe(true);
});
