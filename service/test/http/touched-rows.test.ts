import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLinks } from '../../src/access/links.ts';
import { deleteExpiredRows } from '../../src/history/delete-old-rows.ts';
import { deleteWallets } from '../../src/history/delete-records.ts';
import { erasePlayer } from '../../src/history/erase-player.ts';
import { runOnceDetached } from '../../src/http/operations.ts';
import { createSourceSecrets } from '../../src/resource/source-secrets.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { recordAttempts } from '../../src/webhook/record-attempts.ts';
import { createManualClock } from '../manual-clock.ts';
import { accountId, ids, name, openTwinDatabase, scope } from '../twin-accounts.ts';

// What is changed or deleted: exactly the rows that meet these conditions, of all tables. See twin-accounts.ts, and
// writes.test.ts for writes of single rows.

const nowMs = Date.parse('2099-06-01T00:00:00Z');
const day = 86_400_000;
const [webhookId = ''] = ids('webhook', 1);
const [deliveryId = ''] = ids('delivery', 1);
const [userId = ''] = ids('user', 1);

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

/** Records the second attempt of the first delivery, whose first row in the queue has had one. */
const attempt =
  (state: string, earlier = 1) =>
  (queries: Queries) =>
    recordAttempts(
      { ...queries, transaction: (work: (own: Queries) => unknown) => work(queries) } as never,
      [
        {
          scope,
          delivery: { id: deliveryId, webhookId, attempt: earlier },
          result: { startedAtMs: nowMs, latencyMs: 5 },
          next: { state, delayMs: 1_000 } as never,
          concernsHealth: true,
        },
      ],
    );
const attempted = [
  `UPDATE delivery_queue SET attempt = 1`,
  `DELETE FROM finished_deliveries WHERE account_id = '${accountId}'`,
];
const ofDelivery = { delivery_queue: `id = '${deliveryId}'` };
const ofWebhook = { webhook_failures: `webhook_id = '${webhookId}'` };

const secrets = createSourceSecrets<string>(
  { box: { seal: (text: string) => text }, clock: createManualClock(nowMs) } as never,
  'callback',
  'callback',
);
const sameSource = [
  `UPDATE secrets SET purpose = CASE right(id, 1) WHEN '2' THEN 'other' ELSE 'callback' END,
    id = CASE right(id, 1) WHEN '3' THEN 'src_3' ELSE 'src_1' END WHERE id NOT LIKE '%live%'`,
];

const ofSource = { secrets: `purpose = 'callback' AND id = 'src_1'` };
const links = createLinks({ clock: createManualClock(nowMs) } as never);

const requestHash = createHash('sha256').update('POST /\nnull').digest('hex');
const retried = `UPDATE idempotency_keys SET answer = NULL, request_hash = '${requestHash}', created_at = '2099-01-01T00:00:00Z'`;
const ofKey = { idempotency_keys: `key = '${name}'` };

/** Runs a request that fails, with the idempotency key of the first row. */
const failOnce = async (queries: Queries) => {
  const request = { method: 'POST', url: '/', headers: { 'idempotency-key': name } };
  const deps = { queries, box: { seal: (text: string) => text }, clock: createManualClock(nowMs) };
  const work = () => Promise.reject(new Error('failed'));
  await expect(runOnceDetached(deps as never, scope, request as never, work)).rejects.toThrow(
    'failed',
  );
};

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
  ['of a delivery that is retried', attempted, attempt('pending'), { ...ofDelivery, ...ofWebhook }],
  ['of a delivery that failed', attempted, attempt('failed'), { ...ofDelivery, ...ofWebhook }],
  ['of a delivery that arrived', attempted, attempt('delivered'), { ...ofDelivery, ...ofWebhook }],
  ['of an attempt that came too late', attempted, attempt('failed', 0), ofWebhook],
  ['of an arrival that came too late', attempted, attempt('delivered', 0), ofWebhook],
  [
    'of a source’s secret that is removed',
    sameSource,
    (queries) => secrets.store({ queries, scope } as never, 'src_1', undefined),
    ofSource,
  ],
  [
    'of a source’s secret that is replaced',
    sameSource,
    (queries) => secrets.store({ queries, scope } as never, 'src_1', 'new'),
    ofSource,
  ],
  [
    'of a user’s earlier links',
    [],
    (queries) => links.make(queries, { accountId, id: userId }),
    { user_links: `user_id = '${userId}'` },
  ],
  ['of a key whose request failed', [retried], failOnce, ofKey],
])('the rows %s are changed or deleted, and no others', async (_, prepare, remove, expected) => {
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
