import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteExpiredRows, deleteWallets, erasePlayer } from '../../src/history/erase-player.ts';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { firstIdAt } from '../../src/platform/ids.ts';
import { setAccountRetention } from '../../src/store/account-retention.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { accountId, openTwinDatabase, scope } from '../twin-accounts.ts';

// What is deleted because it is old or belongs to a player: exactly these rows. Two accounts may use the same key, such as
// an idempotency key, and what is old in one of them may be new in the other.

const nowMs = Date.parse('2099-06-01T00:00:00Z');
const old = '2099-01-01T00:00:00Z';

const retention = { decisionsMs: undefined, auditMs: undefined, archiveDirectory: undefined };

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

const oldJob = `id = '${firstIdAt('job', 0)}'`;
const oldEntry = `id = '${firstIdAt('auditEntry', 0)}'`;

/** What makes a row old, and what the other account's row with its key gets, if it needs anything to have that key. */
test.each<[string, string, string?]>([
  ['idempotency_keys', `created_at = '${old}'`],
  ['secrets', `expires_at = '${old}'`],
  ['keys', `revoked_at = '${old}'`],
  ['sessions', `expires_at = '${old}'`],
  ['link_codes', `expires_at = '${old}'`],
  ['user_links', `expires_at = '${old}'`],
  ['sign_in_attempts', `last_at = '${old}', known_until = NULL`],
  ['jobs', `${oldJob}, state = 'done'`, `${oldJob}, state = 'running'`],
  // The other account keeps its records forever.
  ['audit_entries', oldEntry, oldEntry],
  ['viewers', `seen_at = '${old}'`],
])('of %s, only the old row of an account is deleted', async (table, makeOld, makeTwin) => {
  const undo = new Error('undo');
  const rows: Record<'before' | 'old' | 'after', string[]> = { before: [], old: [], after: [] };
  const transaction = database.transaction(async (queries) => {
    const own: Database = { ...database, ...queries, transaction: (work) => work(queries) };
    const read = async (condition = 'true'): Promise<string[]> =>
      (
        await queries.query<{ row: string }>(
          `SELECT t::text AS row FROM ${table} AS t WHERE ${condition}`,
        )
      ).map(({ row }) => row);
    const first = (account: string): string =>
      `ctid = (SELECT ctid FROM ${table} WHERE account_id = '${account}' ORDER BY ${table}::text LIMIT 1)`;
    if (makeTwin !== undefined)
      await queries.query(`UPDATE ${table} SET ${makeTwin} WHERE ${first('acc_twin1')}`);
    const changed = await queries.query<{ row: string }>(
      `UPDATE ${table} AS t SET ${makeOld} WHERE ${first(accountId)} RETURNING t::text AS row`,
    );
    rows.old = changed.map(({ row }) => row);
    await setAccountRetention(queries, accountId, retention, { audit_days: 30 });
    rows.before = await read();
    await deleteOldRows(own, nowMs, retention, new AbortController().signal);
    rows.after = await read();
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(rows.before.filter((row) => !rows.after.includes(row))).toEqual(rows.old);
});

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
/** Makes the first row of each account and environment one player's. */
const samePlayer = [
  ...[
    'decisions',
    'player_tokens',
    'link_codes',
    'wallet_balances',
    'wallet_entries',
    'viewers',
  ].map((table) => `UPDATE ${table} SET viewer = 'player' WHERE right(viewer, 1) = '1'`),
  `UPDATE webhook_events SET viewer = 'player' WHERE right(id, 1) = '1'`,
];
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
const day = 86_400_000;

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
