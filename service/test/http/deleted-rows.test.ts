import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteExpiredRows } from '../../src/history/delete-old-rows.ts';
import { deleteWallets } from '../../src/history/delete-records.ts';
import { erasePlayer } from '../../src/history/erase-player.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { accountId, giveAll, openTwinDatabase, scope } from '../twin-accounts.ts';

// What is deleted: exactly the rows that meet these conditions, of all tables. See twin-accounts.ts, and writes.test.ts for
// writes of single rows.

const nowMs = Date.parse('2099-06-01T00:00:00Z');
const day = 86_400_000;

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

/** Reads all rows, by table and account. */
async function readAll(queries: Queries): Promise<string[]> {
  const tables = await queries.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
      AND relnamespace = current_schema()::regnamespace AND relname <> 'migrations'`,
  );
  const rows = await queries.query<{ row: string }>(
    tables
      .map(({ name }) => `SELECT '${name} ' || t::text AS row FROM ${name} AS t`)
      .join(' UNION ALL '),
  );
  return rows.map(({ row }) => row);
}

/** Reads the rows of tables that meet a condition. */
async function readSome(queries: Queries, conditions: Record<string, string>): Promise<string[]> {
  const rows = await queries.query<{ row: string }>(
    Object.entries(conditions)
      .map(
        ([table, where]) =>
          `SELECT '${table} ' || t::text AS row FROM ${table} AS t WHERE account_id = '${accountId}' AND ${where}`,
      )
      .join(' UNION ALL '),
  );
  return rows.map(({ row }) => row);
}

/** The rows of decisions that meet a condition, and of what belongs to them. */
const decisionsWhere = (condition: string): Record<string, string> => {
  const isOfOne = `decision_id IN (SELECT id FROM decisions WHERE account_id = '${accountId}' AND ${condition})`;
  return {
    decisions: condition,
    timelines: isOfOne,
    decision_demand: isOfOne,
    tracker_requests: isOfOne,
  };
};
const eventsWhere = (condition: string): Record<string, string> => {
  const isOfOne = `event_id IN (SELECT id FROM webhook_events WHERE account_id = '${accountId}' AND ${condition})`;
  return { webhook_events: condition, delivery_queue: isOfOne, finished_deliveries: isOfOne };
};
const samePlayer = giveAll('player');
const ofPlayer = `viewer = 'player' AND environment = 'sandbox'`;
const owned = Object.fromEntries(
  ['player_tokens', 'link_codes', 'wallet_balances', 'wallet_entries', 'viewers'].map((table) => [
    table,
    ofPlayer,
  ]),
);
const erase = (createdAtMs: number) => async (queries: Queries) => {
  const job = { scope, id: '', request: { viewer: 'player' }, cursor: null, createdAtMs };
  while ((await erasePlayer(queries, job)).end !== 'done');
};
const sameChild = ['decisions', 'webhook_events'].map(
  (table) => `UPDATE ${table} SET child_directed = right(id, 1) = '1'`,
);

test.each<[string, string[], (queries: Queries) => Promise<unknown>, Record<string, string>]>([
  [
    'of an erased player',
    samePlayer,
    erase(nowMs),
    { ...decisionsWhere(ofPlayer), ...eventsWhere(ofPlayer), ...owned },
  ],
  ['of a player who was erased a millisecond before the ads', samePlayer, erase(nowMs - 1), owned],
  [
    'of wallets without a device',
    [
      ...samePlayer,
      `UPDATE player_tokens SET viewer = 'another' WHERE viewer = 'player' AND account_id = '${accountId}' AND environment = 'sandbox'`,
    ],
    (queries) => deleteWallets(queries, scope, ['player']),
    { link_codes: ofPlayer, wallet_balances: ofPlayer, wallet_entries: ofPlayer },
  ],
  [
    'of wallets with a device',
    samePlayer,
    (queries) => deleteWallets(queries, scope, ['player']),
    {},
  ],
  [
    'of children after 30 days',
    sameChild,
    (queries) => deleteExpiredRows(queries, accountId, undefined, nowMs + 30 * day + 1),
    { ...decisionsWhere('child_directed'), ...eventsWhere('child_directed') },
  ],
  [
    'of children on the 30th day',
    sameChild,
    (queries) => deleteExpiredRows(queries, accountId, undefined, nowMs + 30 * day),
    {},
  ],
  [
    'that are older than the account keeps, in the sandbox first',
    [],
    (queries) => deleteExpiredRows(queries, accountId, day, nowMs + day + 1),
    { ...decisionsWhere(`environment = 'sandbox'`), ...eventsWhere(`environment = 'sandbox'`) },
  ],
  [
    'that are older than the account keeps, then of the other environment',
    [],
    async (queries) => {
      for (const _ of [1, 2]) await deleteExpiredRows(queries, accountId, day, nowMs + day + 1);
    },
    { ...decisionsWhere('true'), ...eventsWhere('true') },
  ],
])('the rows %s are deleted, and no others', async (_, prepare, remove, expected) => {
  const undo = new Error('undo');
  const rows: Record<'before' | 'expected' | 'after', string[]> = {
    before: [],
    expected: [],
    after: [],
  };
  const transaction = database.transaction(async (queries) => {
    for (const statement of prepare) await queries.query(statement);
    if (Object.keys(expected).length > 0) rows.expected = await readSome(queries, expected);
    rows.before = await readAll(queries);
    await remove(queries);
    rows.after = await readAll(queries);
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  const after = new Set(rows.after);
  const gone = rows.before.filter((row) => !after.has(row));
  expect(gone.toSorted()).toEqual(rows.expected.toSorted());
  expect(Object.keys(expected)).toEqual(
    Object.keys(expected).filter((table) => gone.some((row) => row.startsWith(`${table} `))),
  );
});
