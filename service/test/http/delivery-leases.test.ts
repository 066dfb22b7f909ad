import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { type DatabaseClock, openDatabaseClock } from '../../src/store/database-clock.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createTestMachine } from '../machine.ts';
import { openEmptyDatabase } from '../empty-database.ts';
import { addDelivery, startTestDispatcher } from './test-dispatcher.ts';

let database: Database;
beforeAll(async () => {
  database = await openEmptyDatabase();
  await migrate(database);
});
afterAll(() => database.close());

const hourMs = 3_600_000;
/** Wraps the database. `completion` resolves once the claim query has run `targetRounds` times. */
function watchClaims(targetRounds: number): {
  watchedDatabase: Database;
  completion: Promise<void>;
} {
  let rounds = 0;
  let notify: () => void = () => undefined;
  const completion = new Promise<void>((resolve) => (notify = resolve));
  const query: Database['query'] = async <T>(text: string, params?: readonly unknown[]) => {
    const rows = await database.query<T>(text, params);
    if (text.includes('SET lease_until = $11') && ++rounds === targetRounds) notify();
    return rows;
  };
  return { watchedDatabase: { ...database, query }, completion };
}

test('processes on machines with skewed clocks do not claim a leased delivery', async () => {
  const senders: string[] = [];
  let respond: () => void = () => undefined;
  const response = new Promise<void>((resolve) => (respond = resolve));
  let notifySend: () => void = () => undefined;
  const firstSend = new Promise<void>((resolve) => (notifySend = resolve));
  const clocks: DatabaseClock[] = [];
  const start = async (name: string, aheadMs: number, leaseDatabase: Database) => {
    const machine = createTestMachine(() => performance.timeOrigin + performance.now(), aheadMs);
    const log = { warn: () => undefined };
    const clock = await openDatabaseClock({ database, embedded: false, log, machine });
    clocks.push(clock);
    const onSend = async (): Promise<void> => {
      senders.push(name);
      notifySend();
      await response;
    };
    return startTestDispatcher(database, onSend, { claims: leaseDatabase, clock });
  };
  await addDelivery(database, '1');

  const accurateClockProcess = await start('accurate', 0, database);
  await firstSend;
  const [aheadClaims, behindClaims] = [watchClaims(2), watchClaims(2)];
  const otherProcesses = [
    await start('ahead', hourMs, aheadClaims.watchedDatabase),
    await start('behind', -hourMs, behindClaims.watchedDatabase),
  ];
  await Promise.all([aheadClaims.completion, behindClaims.completion]);
  respond();
  await Promise.all([accurateClockProcess, ...otherProcesses].map((process) => process.stop()));
  expect(senders).toEqual(['accurate']);

  // A process whose clock is behind still sends due deliveries.
  await database.query(
    `WITH finished AS (DELETE FROM finished_deliveries WHERE id = 'dlv_1' RETURNING *)
      INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
        SELECT account_id, id, environment, event_id, webhook_id, 0, now(), created_at FROM finished`,
  );
  const newClaims = watchClaims(2);
  const laggingClockProcess = await start('behind', -hourMs, newClaims.watchedDatabase);
  await newClaims.completion;
  await laggingClockProcess.stop();
  expect(senders).toEqual(['accurate', 'behind']);
  for (const clock of clocks) clock.stop();
});
