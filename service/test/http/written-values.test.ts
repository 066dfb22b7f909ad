import { afterAll, beforeAll, expect, test } from 'vitest';
import { discardSecrets } from '../../src/access/secret-box.ts';
import { updateUser, type User, type UserChange } from '../../src/access/user.ts';
import { createUserTokens } from '../../src/access/user-tokens.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { writeTransitions } from '../../src/reward/transitions.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';
import { createManualClock } from '../manual-clock.ts';
import { accountId, ids, openTwinDatabase, scope } from '../twin-accounts.ts';

// What a write leaves in the rows it is for. Which rows it changes is the subject of writes.test.ts.

const atMs = Date.parse('2099-06-01T00:00:00Z');
const clock = createManualClock(atMs);
const time = (ms: number): string => new Date(ms).toISOString();
const [userId = ''] = ids('user', 1);
const [first = '', second = '', third = ''] = ids('delivery', 1, 2, 3);

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

/** Runs queries whose changes are undone. Returns their result. */
async function tryOut<Result>(run: (queries: Queries) => Promise<Result>): Promise<Result> {
  const undo = new Error('undo');
  const results: Result[] = [];
  const transaction = database.transaction(async (queries) => {
    results.push(await run(queries));
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  return results[0] as Result;
}

test.each<[string, UserChange, number]>([
  ['another name', { name: 'Another' }, 1],
  ['another role', { role: 'viewer' }, 1],
  ['another name and role', { name: 'Another', role: 'viewer' }, 1],
  ['the same name and role', { name: 'Ada', role: 'owner' }, 0],
  ['another password', { password: 'sealed' }, 0],
])('%s adds what an owner would notice to a user’s revision', async (_, change, added) => {
  const user = { accountId, id: userId, name: 'Ada', role: 'owner' } as User;
  const revisions = await tryOut(async (queries) => {
    const read = async () => {
      const [row] = await queries.query<{ revision: number }>(
        'SELECT revision FROM users WHERE account_id = $1 AND id = $2',
        [accountId, userId],
      );
      return Number(row?.revision);
    };
    const before = await read();
    await updateUser(queries, user, change);
    return [before, await read()];
  });
  expect((revisions[1] ?? 0) - (revisions[0] ?? 0)).toBe(added);
});

test('a new user token secret ends the earlier ones, but none later than it ended already', async () => {
  const ends = await tryOut(async (queries) => {
    await queries.query(
      `UPDATE secrets SET purpose = 'user_token', id = 'sandbox/' || right(id, 1), expires_at = CASE right(id, 1)
          WHEN '1' THEN $2::timestamptz WHEN '2' THEN $3::timestamptz END WHERE account_id = $1 AND id NOT LIKE '%live%'`,
      [accountId, time(atMs + 60_000), time(atMs + 7_200_000)],
    );
    const tokens = createUserTokens({
      database: queries,
      box: { seal: (text: string) => text },
      clock,
      audit: { record: async () => undefined },
      quotas: { check: async () => undefined },
    } as never);
    await tokens.createSecret({ queries, scope } as never, 3_600);
    return queries.query<{ id: string; end: string }>(
      `SELECT right(id, 1) AS id, expires_at AS end FROM secrets
        WHERE account_id = $1 AND purpose = 'user_token' AND id ~ '^sandbox/.$' ORDER BY id`,
      [accountId],
    );
  });
  expect(ends.map(({ id, end }) => [id, new Date(end).getTime() - atMs])).toEqual([
    ['1', 60_000],
    ['2', 3_600_000],
    ['3', 3_600_000],
  ]);
});

test.each([
  ['a later one first', [second, first, third]],
  ['the latest first', [third, second, first]],
])('deliveries are claimed in the order in which they became due: %s', async (_, order) => {
  const claimed = await tryOut(async (queries) => {
    await queries.query(
      `UPDATE delivery_queue SET lease_until = NULL, next_at = CASE id WHEN $2 THEN $5::timestamptz
          WHEN $3 THEN $6::timestamptz ELSE $7::timestamptz END WHERE account_id = $1 AND id IN ($2, $3, $4)`,
      [accountId, ...order, time(atMs - 3), time(atMs - 2), time(atMs - 1)],
    );
    await queries.query(
      `DELETE FROM delivery_queue WHERE account_id <> $1 OR id NOT IN ($2, $3, $4)`,
      [accountId, ...order],
    );
    const room = { endpoints: [], perEndpoint: 9, accounts: [], perAccount: 9, limit: 9 };
    return claimDue(queries, { ...room, leaseMs: 60_000, nowMs: atMs });
  });
  expect(claimed.map(({ id }) => id)).toEqual(order);
});

test('with a lost key, what it encrypted is discarded, and deliveries of no other event', async () => {
  const [eventId = ''] = ids('webhookEvent', 1);
  const left = await tryOut(async (queries) => {
    await queries.query(`UPDATE webhook_events SET body = '1.lost' WHERE id = $1`, [eventId]);
    await discardSecrets({
      transaction: (work: (own: Queries) => unknown) => work(queries),
    } as never);
    const count = async (table: string, column: string) => {
      const [row] = await queries.query<{ lost: number; others: number }>(
        `SELECT count(*) FILTER (WHERE ${column} = $1)::int AS lost, count(*) FILTER (WHERE ${column} <> $1)::int AS others
          FROM ${table}`,
        [eventId],
      );
      return [row?.lost, (row?.others ?? 0) > 0];
    };
    return [
      await count('webhook_events', 'id'),
      await count('delivery_queue', 'event_id'),
      await count('finished_deliveries', 'event_id'),
    ];
  });
  expect(left).toEqual([
    [0, true],
    [0, true],
    [0, true],
  ]);
});

test.each([
  ['pending', true],
  ['earned', false],
])(
  'a reward that is %s in the meantime is changed only if that is what was read',
  async (state, isRead) => {
    const [id = ''] = ids('decision', 1);
    const before = { id, rewardState: 'pending', servedAtMs: null };
    const after = { ...before, rewardState: 'earned', rewardReason: null, invalidReason: null };
    const result = await tryOut(async (queries) => {
      await queries.query(
        'UPDATE decisions SET reward_state = $1, served_at = NULL WHERE id = $2 AND account_id = $3',
        [state, id, accountId],
      );
      return writeTransitions(queries, scope, [{ before, after } as never]).catch(String);
    });
    expect(result).toBe(isRead ? undefined : 'Error: Updated 0 locked decisions; expected 1.');
  },
);
