import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMac } from '../../src/access/secret-box.ts';
import { createPlayerTokens } from '../../src/access/player-tokens.ts';
import { createSessions, hashToken } from '../../src/access/sessions.ts';
import { claimOrigins } from '../../src/demand/intake/check-origins.ts';
import {
  claimRequests,
  hasPending,
  listAccounts,
  sweepRequests,
} from '../../src/demand/tracker/request-store.ts';
import { claimChore } from '../../src/history/claim-chore.ts';
import { readReport } from '../../src/history/report.ts';
import { rollUpDays } from '../../src/history/rollup.ts';
import { readTop } from '../../src/history/top.ts';
import { findCause } from '../../src/inspect/explain-decision.ts';
import { listDecisions } from '../../src/inspect/list-decisions.ts';
import { createIds, firstIdAt } from '../../src/platform/ids.ts';
import { readAdViews, readRewardedAds } from '../../src/reward/read-decisions.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import { listAuditEntries } from '../../src/store/audit-log.ts';
import type { Database } from '../../src/store/database.ts';
import { dropWeek, selectWeek, weekMs } from '../../src/store/partitions.ts';
import { readWalletReport } from '../../src/wallet/wallet-report.ts';
import { readHoldings, writeChanges } from '../../src/wallet/wallet-store.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';
import { listFailingEndpoints } from '../../src/webhook/probe.ts';
import { createWebhookSecret } from '../../src/webhook/webhook-secrets.ts';
import { createManualClock } from '../manual-clock.ts';
import { accountId, ids, name, openTwinDatabase, scope } from '../twin-accounts.ts';

/*
 * Each comparison of a stored time with another one: the last time that counts, and the next one, which doesn't. All
 * times of the rows are `atMs` unless a test changes them. See twin-accounts.ts.
 */

const atMs = Date.parse('2099-06-01T00:00:00Z');
const hourMs = 3_600_000;
const clock = createManualClock(atMs);
const makeId = createIds(clock, (size) => new Uint8Array(size));
const [decisionId = ''] = ids('decision', 1);
const page = { limit: 10 };

/** SQL for a time. */
const time = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`;
const isFound = (result: unknown): boolean =>
  Array.isArray(result) ? result.length > 0 : result !== undefined;

const mondayMs = Date.parse('2099-06-01T00:00:00Z') - 7 * weekMs;
const oneDecisionAt = (ms: number): string =>
  `UPDATE decisions SET id = '${firstIdAt('decision', ms)}' WHERE id = '${decisionId}' AND account_id = '${accountId}'`;
const week = { table: 'decisions', fromMs: mondayMs, isPartition: false } as const;
const hasWeek = async (own: Database): Promise<boolean> =>
  isFound(await own.query(selectWeek(week as never)));
const losesWeek = async (own: Database): Promise<boolean> => {
  const count = () => own.query('SELECT FROM decisions');
  const before = await count();
  await dropWeek(own, week as never);
  return (await count()).length < before.length;
};

const report = async (own: Database, fromMs: number, toMs: number): Promise<boolean> => {
  const query = { fromMs, toMs, interval: 'hour', groupBy: [], timeZone: 'UTC' } as const;
  return isFound((await readReport(own, scope, query)).data);
};
const top = async (own: Database, fromMs: number, toMs: number): Promise<boolean> => {
  const query = {
    fromMs,
    toMs,
    dimension: 'placement',
    by: 'requests',
    only: {},
    limit: 1,
  } as const;
  return isFound(await readTop(own, scope, query));
};
const counted = `UPDATE rollups SET metric = 'filled'`;
const wallets = (own: Database, fromMs: number, toMs: number) =>
  readWalletReport(own, scope, { fromMs, toMs, timeZone: 'UTC' }, atMs);

const listed = async (own: Database, search: { fromMs?: number; toMs?: number }) =>
  isFound((await listDecisions(own, scope, { ...page, search })).data);
const lowestId = [`DELETE FROM decisions WHERE id <> '${decisionId}'`, oneDecisionAt(atMs)];

const [recordId = ''] = ids('auditEntry', 1);
const lowestRecord = [
  `DELETE FROM audit_entries WHERE id <> '${recordId}'`,
  `UPDATE audit_entries SET id = '${firstIdAt('auditEntry', atMs)}' WHERE account_id = '${accountId}'`,
];

const token = `${accountId}.session`;
const inSession = (columns: string): string[] => [
  `UPDATE sessions SET expires_at = ${time(atMs + hourMs)}`,
  `UPDATE sessions SET hash = '${hashToken(token)}', ${columns} WHERE hash = '${name}'`,
];
const findSession = async (own: Database): Promise<boolean> =>
  isFound(await createSessions(own, clock).find(token, { touch: false }));

const players = (own: Database) =>
  createPlayerTokens({
    database: own,
    clock,
    makeId,
    tokenSecret: 'secret',
    pseudonym: () => 'player',
  });
const guestText = 'ply.e30.guest';
const guestToken = `${guestText}.${createMac('secret')(`${accountId} sandbox ${guestText}`)}`;

const blocked = { reason: 'killed', placement: 'revive', issued_at: new Date(atMs) } as never;
const isExplained = async (own: Database): Promise<boolean> =>
  isFound(await findCause(own, scope, blocked, undefined));

interface Edge {
  /** SQL that puts the row at the edge, or `excess` milliseconds beyond it. */
  prepare?(excess: number): string[];
  /** Whether the row counts. */
  counts(own: Database, excess: number): Promise<boolean>;
}

const edges: Record<string, Edge> = {
  'the first id of a week': {
    prepare: (excess) => [oneDecisionAt(mondayMs - excess)],
    counts: hasWeek,
  },
  'the last ids of a week': {
    prepare: (excess) => [oneDecisionAt(mondayMs + weekMs - 1 + excess)],
    counts: hasWeek,
  },
  'the first id of a week that is dropped': {
    prepare: (excess) => [oneDecisionAt(mondayMs - excess)],
    counts: losesWeek,
  },
  'the last ids of a week that is dropped': {
    prepare: (excess) => [oneDecisionAt(mondayMs + weekMs - 1 + excess)],
    counts: losesWeek,
  },
  'the first hour of a report': {
    prepare: () => [counted],
    counts: (own, excess) => report(own, atMs + excess * hourMs, atMs + 2 * hourMs),
  },
  'the last hour of a report': {
    prepare: () => [counted],
    counts: (own, excess) => report(own, atMs - hourMs, atMs + (1 - excess) * hourMs),
  },
  'the first hour of a top': {
    prepare: () => [counted],
    counts: (own, excess) => top(own, atMs + excess * hourMs, atMs + 2 * hourMs),
  },
  'the last hour of a top': {
    prepare: () => [counted],
    counts: (own, excess) => top(own, atMs - hourMs, atMs + (1 - excess) * hourMs),
  },
  'the first change of wallets in a report': {
    counts: async (own, excess) => isFound((await wallets(own, atMs + excess, atMs + hourMs)).data),
  },
  'the last change of wallets in a report': {
    counts: async (own, excess) =>
      isFound((await wallets(own, atMs - hourMs, atMs + 1 - excess)).data),
  },
  'a timed balance in a report': {
    prepare: (excess) => [
      `UPDATE wallet_balances SET balance = 0, active_until = ${time(atMs + 1 - excess)}`,
    ],
    counts: async (own) => isFound((await wallets(own, atMs, atMs + hourMs)).holdings),
  },
  'players of a timed balance in a report': {
    prepare: (excess) => [
      `UPDATE wallet_balances SET balance = 1, active_until = ${time(atMs + 1 - excess)}`,
    ],
    counts: async (own) =>
      ((await wallets(own, atMs, atMs + hourMs)).holdings[0]?.active_players ?? 0) > 0,
  },
  'the smallest balance in a report': {
    prepare: (excess) => [`UPDATE wallet_balances SET balance = ${1 - excess}`],
    counts: async (own) => isFound((await wallets(own, atMs, atMs + hourMs)).holdings),
  },
  'players of the smallest balance in a report': {
    prepare: (excess) => [
      `UPDATE wallet_balances SET balance = ${1 - excess}, active_until = ${time(atMs + 1)}`,
    ],
    counts: async (own) =>
      ((await wallets(own, atMs, atMs + hourMs)).holdings[0]?.players ?? 0) > 0,
  },
  'the first decision of a list': {
    prepare: () => lowestId,
    counts: (own, excess) => listed(own, { fromMs: atMs + excess }),
  },
  'the last decision of a list': {
    prepare: () => lowestId,
    counts: (own, excess) => listed(own, { toMs: atMs + 1 - excess }),
  },
  'the first audit record of a period': {
    prepare: () => lowestRecord,
    counts: async (own, excess) =>
      isFound((await listAuditEntries(own, scope, { ...page, fromMs: atMs + excess })).data),
  },
  'the last audit record of a period': {
    prepare: () => lowestRecord,
    counts: async (own, excess) =>
      isFound((await listAuditEntries(own, scope, { ...page, toMs: atMs + 1 - excess })).data),
  },
  'a reward that expires': {
    prepare: () => [`UPDATE decisions SET reward_state = 'pending'`],
    counts: async (own, excess) =>
      isFound(await expireRewards(own, { ...clock, nowMs: () => atMs + 1 - excess })),
  },
  'a rewarded view': {
    prepare: (excess) => [
      `UPDATE decisions SET viewer = 'player', watch_to = ${time(atMs + 1 - excess)}`,
    ],
    counts: async (own) => isFound(await readAdViews(own, scope, ['player'], atMs)),
  },
  'the first rewarded ad of a period': {
    prepare: (excess) => [
      `UPDATE decisions SET viewer = 'player', reward_state = 'earned', served_at = ${time(atMs + 1 - excess)}`,
    ],
    counts: async (own) =>
      isFound(await readRewardedAds(own, scope, ['player'], [atMs, atMs + hourMs])),
  },
  'the last rewarded ad of a period': {
    prepare: () => [
      `UPDATE decisions SET viewer = 'player', reward_state = 'earned', served_at = ${time(atMs)}`,
    ],
    counts: async (own, excess) =>
      isFound(await readRewardedAds(own, scope, ['player'], [atMs - hourMs, atMs + 1 - excess])),
  },
  'a session that has not expired': {
    prepare: (excess) => inSession(`expires_at = ${time(atMs + 1 - excess)}`),
    counts: findSession,
  },
  'a session that was used': {
    prepare: (excess) => inSession(`seen_at = ${time(atMs - 2 * hourMs + 1 - excess)}`),
    counts: findSession,
  },
  'a code for another device': {
    prepare: (excess) => [
      `UPDATE link_codes SET hash = '${hashToken(`${accountId} sandbox C0DE2345`)}',
        expires_at = ${time(atMs + 1 - excess)} WHERE viewer = '${name}' AND account_id = '${accountId}'`,
    ],
    counts: async (own) => isFound(await players(own).link(scope, 'C0DE2345')),
  },
  'a guest’s visit that is not recorded, because another process has recorded a later one': {
    prepare: () => [
      `UPDATE player_tokens SET hash = '${hashToken(guestToken)}', used_at = ${time(atMs - 30 * 24 * hourMs)}
        WHERE viewer = '${name}' AND account_id = '${accountId}'`,
    ],
    counts: async (own, excess) => {
      const later = `UPDATE player_tokens SET used_at = ${time(atMs - 1 + excess * 2)} WHERE hash = '${hashToken(guestToken)}'`;
      let reads = 0;
      const racing = {
        ...own,
        async query<Row extends object>(statement: string, params?: readonly unknown[]) {
          const rows = await own.query<Row>(statement, params as never);
          if ((reads += 1) === 1) await own.query(later);
          return rows;
        },
      } as Database;
      await players(racing).find(scope, guestToken);
      const recorded = `SELECT FROM player_tokens WHERE hash = '${hashToken(guestToken)}' AND used_at = ${time(atMs)}`;
      return isFound(await own.query(recorded));
    },
  },
  'a kill switch that was on': {
    prepare: (excess) => [
      `UPDATE audit_entries SET action = 'kill_switch.updated', after = jsonb_build_object('scope', 'placement',
        'target_id', 'revive', 'state', '${['on', 'off'][excess]}')`,
    ],
    counts: isExplained,
  },
  'a kill switch that blocked a decision': {
    prepare: (excess) => [
      `UPDATE audit_entries SET action = 'kill_switch.created', id = '${firstIdAt('auditEntry', atMs - hourMs)}',
        after = jsonb_build_object('scope', 'placement', 'target_id', 'revive', 'state', 'on',
          'expires_at', ${time(atMs + 1 - excess)}) WHERE target_id = '${name}' AND account_id = '${accountId}'`,
    ],
    counts: isExplained,
  },
  'the latest state of a kill switch': {
    prepare: (excess) => [
      `UPDATE audit_entries SET action = 'kill_switch.updated', target_id = 'ksw_1', after = jsonb_build_object(
        'scope', 'placement', 'target_id', 'revive',
        'state', CASE right(id, 1) WHEN '3' THEN '${['on', 'off'][excess]}' ELSE '${['off', 'on'][excess]}' END)`,
    ],
    counts: isExplained,
  },
  'the five active secrets of a webhook': {
    prepare: (excess) => [
      'DELETE FROM secrets',
      `INSERT INTO secrets SELECT '${accountId}', 'webhook', 'whk_1/' || n, 'sealed', now(), ${time(atMs + 1 - excess)}
        FROM generate_series(1, 5) AS n`,
    ],
    counts: (own) =>
      createWebhookSecret(
        own,
        { seal: (text: string) => text } as never,
        { accountId, webhookId: 'whk_1' },
        atMs,
      ).then(
        () => false,
        () => true,
      ),
  },
  'a chore that is due': {
    prepare: (excess) => [
      `INSERT INTO chores VALUES ('service', 'chore', ${time(atMs - hourMs + excess)})`,
    ],
    counts: (own) => claimChore(own, 'chore', hourMs, atMs),
  },
  'a day that is rolled up, whatever else the account’s other chores did': {
    prepare: () => [
      `INSERT INTO chores VALUES ('${accountId}', 'another', now()), ('${accountId}', 'third', now())`,
      `UPDATE rollups SET hour = ${time(atMs)}`,
    ],
    counts: (own, excess) => rollUpDays(own, accountId, atMs + (16 - excess) * 24 * hourMs),
  },
  'an account with a tracker request that is due': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = 'pending', next_at = ${time(atMs + excess)}`,
    ],
    counts: async (own) =>
      (await listAccounts(own, firstIdAt('decision', 0), atMs)).includes(accountId),
  },
  'an account with a tracker request that is still pending': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = '${['pending', 'sent'][excess]}', next_at = ${time(atMs)}`,
    ],
    counts: async (own) =>
      (await listAccounts(own, firstIdAt('decision', 0), atMs)).includes(accountId),
  },
  'a tracker request that is due': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = 'pending', lease_until = NULL, next_at = ${time(atMs + excess)}`,
    ],
    counts: async (own) =>
      isFound(await claimRequests(own, { ...claim, limit: 9, sinceId: firstIdAt('decision', 0) })),
  },
  'a tracker request whose lease has ended': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = 'pending', at_least_once = true, next_at = ${time(atMs - hourMs)},
        lease_until = ${time(atMs + excess)}`,
    ],
    counts: async (own) =>
      isFound(await claimRequests(own, { ...claim, limit: 9, sinceId: firstIdAt('decision', 0) })),
  },
  'a webhook that is probed': {
    prepare: (excess) => [
      `UPDATE resources SET document = document || jsonb_build_object('disabled_reason', 'failing',
        'disabled_at', '${new Date(atMs - hourMs + excess).toISOString()}') WHERE kind = 'webhook'`,
    ],
    counts: async (own) => isFound(await listFailingEndpoints(own, atMs)),
  },
  'an external creative that is compared with its origin': {
    prepare: (excess) => [`UPDATE creative_origins SET due_at = ${time(atMs + excess)}`],
    counts: async (own) => isFound(await claimOrigins(own, accountId, new Date(atMs))),
  },
  'how many creatives of a source are compared at once': {
    prepare: () => [
      `UPDATE creative_origins SET source_id = 'source'`,
      `INSERT INTO creative_origins (account_id, environment, source_id, creative_id, sha256, due_at)
        SELECT account_id, environment, source_id, creative_id || n, sha256, due_at
        FROM creative_origins, generate_series(1, 5) AS n WHERE account_id = '${accountId}'`,
    ],
    counts: async (own, excess) =>
      (await claimOrigins(own, accountId, new Date(atMs))).length === 5 + excess,
  },
  'a tracker request that is too late': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = 'pending', lease_until = NULL, late_at = ${time(atMs + excess)}`,
    ],
    counts: async (own) => (await sweepRequests(own, firstIdAt('decision', 0), atMs)).late > 0,
  },
  'a late tracker request whose process has died': {
    prepare: (excess) => [
      `UPDATE tracker_requests SET state = 'pending', at_least_once = true, late_at = ${time(atMs - hourMs)},
        lease_until = ${time(atMs + excess)}`,
    ],
    counts: async (own) => (await sweepRequests(own, firstIdAt('decision', 0), atMs)).late > 0,
  },
};

/** Keeps one decision's tracker requests. Those of decisions before `since` aren't read. */
const oneDecision = [
  `DELETE FROM tracker_requests WHERE decision_id <> '${decisionId}'`,
  `UPDATE tracker_requests SET state = 'pending', lease_until = NULL`,
];
const since = (excess: number): string => decisionId + '0'.repeat(excess);
const claim = { accountId, hosts: [], perHost: 9, leaseMs: hourMs, nowMs: atMs };
const oldest: Record<string, Edge['counts']> = {
  'may be pending': (own, excess) => hasPending(own, since(excess)),
  'may be due': async (own, excess) =>
    (await listAccounts(own, since(excess), atMs)).includes(accountId),
  'may be claimed': async (own, excess) =>
    isFound(await claimRequests(own, { ...claim, limit: 9, sinceId: since(excess) })),
  'may be too late': async (own, excess) =>
    (await sweepRequests(own, since(excess), atMs)).late > 0,
};
for (const [what, counts] of Object.entries(oldest))
  edges[`the oldest decision whose tracker requests ${what}`] = {
    prepare: () => oneDecision,
    counts,
  };

let database: Database;
beforeAll(async () => {
  database = await openTwinDatabase();
});
afterAll(() => database.close());

test.each(Object.entries(edges))('holds exactly: %s', async (_, { prepare, counts }) => {
  const undo = new Error('undo');
  const results: boolean[] = [];
  for (const excess of [0, 1]) {
    const transaction = database.transaction(async (queries) => {
      const own: Database = { ...database, ...queries, transaction: (work) => work(queries) };
      for (const statement of prepare?.(excess) ?? []) await queries.query(statement);
      results.push(await counts(own, excess));
      throw undo;
    });
    await expect(transaction).rejects.toBe(undo);
  }
  expect(results).toEqual([true, false]);
});

test('a wallet that has changed since it was read is not written', async () => {
  const undo = new Error('undo');
  const transaction = database.transaction(async (queries) => {
    const rows = await readHoldings(queries, scope, [name]);
    const change = { viewer: name, kind: 'grant', type: rows[0]?.type ?? '', delta: 1 } as const;
    const write = (id: string) => writeChanges(queries, scope, rows, [{ ...change, id }], atMs);
    expect(await write('first')).toHaveLength(1);
    await expect(write('second')).rejects.toThrow('Stored 0 of 1 balances of locked players.');
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
});

test('a report of wallets names the 100 most frequent reasons', async () => {
  const undo = new Error('undo');
  const reasons = new Map<string | undefined, number>();
  const transaction = database.transaction(async (queries) => {
    // Reason 50 has one entry, and the others have two.
    await queries.query(
      `INSERT INTO wallet_entries (account_id, environment, viewer, id, kind, type, delta, reason, balance, version, at)
        SELECT '${accountId}', 'sandbox', 'player', n || ' ' || part, 'grant', 'coins', 1, 'reason ' || n, 1, 1, ${time(atMs + 1)}
        FROM generate_series(1, 101) AS n, generate_series(1, 2) AS part WHERE n <> 50 OR part = 1`,
    );
    const period = { fromMs: atMs + 1, toMs: atMs + 2, timeZone: 'UTC' };
    for (const row of (await readWalletReport(queries, scope, period, atMs)).data)
      reasons.set(row.reason, row.changes);
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect([reasons.size, reasons.get('(other)'), reasons.has('reason 50')]).toEqual([101, 1, false]);
});

test('a leased delivery of a failing webhook takes no other webhook’s turn', async () => {
  const undo = new Error('undo');
  let claimed: unknown;
  const [failing = '', other = ''] = ids('delivery', 1, 2);
  const [webhookId = ''] = ids('webhook', 1);
  const transaction = database.transaction(async (queries) => {
    await queries.query(
      `DELETE FROM delivery_queue WHERE account_id <> '${accountId}' OR id NOT IN ('${failing}', '${other}')`,
    );
    await queries.query(
      `UPDATE delivery_queue SET attempt = 0, next_at = ${time(atMs - hourMs)}, lease_until = ${time(atMs + hourMs)}
        WHERE id = '${failing}'`,
    );
    await queries.query(
      `UPDATE webhook_failures SET attempts = 9 WHERE webhook_id = '${webhookId}'`,
    );
    const room = { endpoints: [], perEndpoint: 9, accounts: [], perAccount: 9 };
    claimed = await claimDue(queries, { ...room, limit: 1, leaseMs: hourMs, nowMs: atMs });
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(claimed).toMatchObject([{ id: other }]);
});

test('tracker requests to different hosts take turns', async () => {
  const undo = new Error('undo');
  let claimed: string[] = [];
  const [first = '', second = '', third = ''] = ids('decision', 1, 2, 3);
  const transaction = database.transaction(async (queries) => {
    // The long queue's requests are due before the only one to the other host.
    await queries.query(
      `UPDATE tracker_requests SET state = 'pending', lease_until = NULL,
        host = CASE decision_id WHEN '${third}' THEN 'b.example' ELSE 'a.example' END,
        next_at = CASE decision_id WHEN '${first}' THEN ${time(atMs - 3)} WHEN '${second}' THEN ${time(atMs - 2)}
          ELSE ${time(atMs - 1)} END`,
    );
    await queries.query(
      `DELETE FROM tracker_requests WHERE decision_id NOT IN ('${first}', '${second}', '${third}')`,
    );
    const requests = await claimRequests(queries, {
      ...claim,
      limit: 2,
      sinceId: firstIdAt('decision', 0),
    });
    claimed = requests.map(({ decisionId: id }) => id);
    throw undo;
  });
  await expect(transaction).rejects.toBe(undo);
  expect(claimed.toSorted()).toEqual([first, third].toSorted());
});
