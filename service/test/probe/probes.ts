import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { recordDecisions, type DecisionRecord } from '../../src/decision/record-decisions.ts';
import { appendEvents } from '../../src/reward/timeline.ts';
import { lockViewers } from '../../src/store/lock-viewers.ts';
import { readDecisions, readEvents } from '../../src/reward/read-decisions.ts';
import { writeTransitions } from '../../src/reward/transitions.ts';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import { createUsageStore } from '../../src/http/limits/open-rate-limits.ts';
import { addStateMetrics } from '../../src/http/monitoring/metrics.ts';
import { systemClock } from '../../src/platform/time.ts';
import { createIds } from '../../src/platform/ids.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import type { Database } from '../../src/store/database.ts';
import { archiveWeek, isArchived } from '../../src/history/archive-week.ts';
import { migrate } from '../../src/store/migrate.ts';
import { dropWeek, listWeeks, createPartitions } from '../../src/store/partitions.ts';
import { deleteOldRows } from '../../src/history/delete-old-rows.ts';
import { claimChore } from '../../src/history/claim-chore.ts';
import { storeRequests } from '../../src/demand/trackers.ts';
import {
  claimRequests,
  listAccounts,
  recordEnded,
  sweepRequests,
} from '../../src/demand/tracker/request-store.ts';
import { createOneTimeCodes, createPasswords } from '../../src/access/credentials.ts';
import { createSessions } from '../../src/access/sessions.ts';
import { createSignIn } from '../../src/access/sign-in.ts';
import { insertUser } from '../../src/access/user.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';
import { createEventWriter } from '../../src/webhook/event-writer.ts';
import { recordAttempts } from '../../src/webhook/record-attempts.ts';
import { addAccount } from '../add-account.ts';
import { idleState } from '../idle-state.ts';
import { expectEqual } from './expect-equal.ts';
import { createWalletProbes } from './wallet-probes.ts';

const makeId = createIds(systemClock, randomBytes);
const scope = { accountId: makeId('account'), environment: 'live' } as const;
const decisionId = makeId('decision');
const dayMs = 86_400_000;
const nowMs = Date.now();

const record: DecisionRecord = {
  status: 'filled',
  reason: null,
  placement: 'probe',
  format: 'rewarded',
  creative_id: 'crv_probe',
  media_format: 'image',
  advertiser_id: 'adv_probe',
  source_id: 'src_probe',
  house_ad_id: 'had_probe',
  reserved_ad: null,
  reward: { type: 'coins', amount: 1 },
  required_ms: 5_000,
  evidence: null,
  invalid_reason: null,
  simulate: null,
  id: decisionId,
  user_ref: 'probe',
  viewer: 'probe',
  child_directed: false,
  custom_data: null,
  explain: null,
  issued_at: nowMs - 3_000,
  expires_at: nowMs - 2_000,
  late_at: nowMs - 1_000,
};
const event: RecordedEvent = {
  id: 'probe',
  decisionId,
  type: 'complete',
  occurredAtMs: nowMs,
  receivedAtMs: nowMs,
  offsetMs: 0,
  clamped: false,
};

/** Statements that the service uses and that distributed databases often do not support. */
export const probes: Record<string, (database: Database) => Promise<void>> = {
  'migrations hold a lock row': async (database) => void (await migrate(database)),
  'partitions are created while the service runs': (database) => createPartitions(database, nowMs),
  'a prepared statement with array parameters inserts decisions and their counts': async (
    database,
  ) => {
    await addAccount(database, scope.accountId);
    await recordDecisions(database, async () => false, [{ scope, record }]);
    await recordDecisions(database, async () => false, [
      { scope, record: { ...record, id: makeId('decision') } },
    ]);
    const rows = await database.query(
      `SELECT sum(count)::integer AS count FROM rollup_counts WHERE account_id = $1 AND metric = 'filled'`,
      [scope.accountId],
    );
    expectEqual(rows, [{ count: 2 }]);
  },
  'an account’s rows are locked, and each event is stored once': (database) =>
    database.transaction(async (queries) => {
      await lockViewers(queries, scope, ['probe'], nowMs);
      expectEqual((await readDecisions(queries, scope, [decisionId], { lock: true })).length, 1);
      for (const expected of ['new', 'stored']) {
        const recordedEvents = await readEvents(queries, scope.accountId, [decisionId]);
        const { outcomes, written } = appendEvents(
          queries,
          scope.accountId,
          [event],
          recordedEvents,
        );
        await written;
        expectEqual(outcomes.get(event), expected);
      }
    }),
  'a stale reward change is rejected': async (database) => {
    const [decision] = await readDecisions(database, scope, [decisionId], { lock: false });
    if (!decision) throw new Error('the decision is missing');
    const changedDecision = { ...decision, rewardState: 'pending' as const };
    const write = () =>
      writeTransitions(database, scope, [{ before: decision, after: changedDecision }]);
    await write();
    const [repeatedWrite] = await Promise.allSettled([write()]);
    expectEqual(repeatedWrite?.status, 'rejected');
  },
  'rewards in all accounts expire without a cross-account lock': async (database) => {
    expectEqual(await expireRewards(database, systemClock), [decisionId]);
    expectEqual(await expireRewards(database, systemClock), []);
  },
  'each account’s due deliveries are claimed once': async (database) => {
    const eventTime = new Date(nowMs - 1_000).toISOString();
    await database.query(
      `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
        VALUES ($1, 'live', 'webhook', 'whk_probe', '{}', 1, now(), now())`,
      [scope.accountId],
    );
    await database.query(
      `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
        VALUES ($1, $2, 'live', 'evt_probe', 'whk_probe', 0, $3, $3)`,
      [scope.accountId, makeId('delivery'), eventTime],
    );
    const claimForProbe = async (): Promise<number> => {
      const claimedDeliveries = await claimDue(database, {
        endpoints: [],
        perEndpoint: 4,
        accounts: [],
        perAccount: 100,
        limit: 100,
        leaseMs: 20_000,
        nowMs,
      });
      return claimedDeliveries.filter(({ accountId }) => accountId === scope.accountId).length;
    };
    expectEqual(await claimForProbe(), 1);
    expectEqual(await claimForProbe(), 0);
    for (const table of ['delivery_queue', 'resources'])
      await database.query(`DELETE FROM ${table} WHERE account_id = $1`, [scope.accountId]);
  },
  'events are stored with their deliveries, and attempts update the deliveries': async (
    database,
  ) => {
    await addAccount(database, scope.accountId);
    const writeEvents = createEventWriter({
      clock: systemClock,
      makeId,
      subscriptions: () => ({
        webhooks: [{ id: 'whk_probe', events: ['decision.rewarded'] }] as never,
        subscribedEvents: new Set(['decision.rewarded']),
      }),
      bodies: { store: (body) => body, open: (stored) => stored },
    });
    const draft = { type: 'decision.rewarded', data: {} as never } as const;
    expectEqual(await writeEvents(database, scope, [draft, draft]), true);
    const read = () =>
      database.query<{ id: string; state: string; attempt: number; later: boolean | null }>(
        `SELECT id, state, jsonb_array_length(attempts) AS attempt, next_at > now() + interval '50 seconds' AS later FROM deliveries
          WHERE account_id = $1 ORDER BY id`,
        [scope.accountId],
      );
    const result = { startedAtMs: nowMs, latencyMs: 1, status: 500 };
    const [successfulAttempt, failedAttempt] = (await read()).map(({ id }) => ({
      scope,
      delivery: { id, webhookId: 'whk_probe', attempt: 0 },
      result: result as never,
      concernsHealth: true,
    }));
    if (!successfulAttempt || !failedAttempt) throw new Error('the deliveries are missing');
    const consecutiveFailures = await recordAttempts(database, [
      { ...successfulAttempt, next: { state: 'delivered' } as never },
      { ...failedAttempt, next: { state: 'pending', delayMs: 60_000 } as never },
    ]);
    expectEqual(consecutiveFailures.at(1)?.attempts, 1);
    expectEqual(
      (await read()).map(({ state, attempt, later }) => ({ state, attempt, later })),
      [
        { state: 'delivered', attempt: 1, later: null },
        { state: 'pending', attempt: 1, later: true },
      ],
    );
    for (const table of 'delivery_queue finished_deliveries webhook_events webhook_failures'.split(
      ' ',
    ))
      await database.query(`DELETE FROM ${table} WHERE account_id = $1`, [scope.accountId]);
  },
  'tracker requests are leased once, recorded, and marked late when they expire': async (
    database,
  ) => {
    await addAccount(database, scope.accountId);
    const tracker = {
      name: 'impression/0',
      url: 'https://probe.example/',
      place: 0,
      atLeastOnce: true,
    } as never;
    const [dueAtMs, lateAtMs] = [nowMs, nowMs + 60_000];
    const request = { decisionId, tracker, dueAtMs, lateAtMs, client: null };
    await storeRequests(database, scope, [
      request,
      { ...request, decisionId: makeId('decision'), lateAtMs: nowMs - 1 },
    ]);
    await sweepRequests(database, decisionId, nowMs);
    const claimForProbe = () =>
      claimRequests(database, {
        accountId: scope.accountId,
        hosts: [],
        perHost: 10,
        limit: 100,
        leaseMs: 20_000,
        sinceId: decisionId,
        nowMs,
      });
    expectEqual((await listAccounts(database, decisionId, nowMs)).includes(scope.accountId), true);
    const [leased] = await claimForProbe();
    if (leased?.decisionId !== decisionId) throw new Error('the request was not leased');
    expectEqual(await claimForProbe(), []);
    await recordEnded(database, scope.accountId, [
      { request: leased, outcome: { state: 'sent', status: 204 }, atMs: nowMs },
    ]);
    const rows = await database.query(
      'SELECT state FROM tracker_requests WHERE account_id = $1 ORDER BY state',
      [scope.accountId],
    );
    expectEqual(rows, [{ state: 'late' }, { state: 'sent' }]);
  },
  ...createWalletProbes(scope),
  'all database metrics can be read': async (database) => {
    const failures: unknown[] = [];
    const query: Database['query'] = (text, params) =>
      database.query<never>(text, params).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    const registry = new Registry();
    addStateMetrics(registry, {
      ...idleState,
      database: { ...database, query },
      clock: systemClock,
    });
    await registry.metrics();
    expectEqual(failures, []);
  },
  'users sign in, and wrong passwords lock them out': async (database) => {
    await addAccount(database, scope.accountId);
    const passwords = createPasswords({ N: 1_024, r: 8, p: 1 });
    const email = `${makeId('user')}@example.com`;
    await database.transaction(async (queries) =>
      insertUser(queries, {
        accountId: scope.accountId,
        id: makeId('user'),
        email,
        name: 'Probe',
        role: 'owner',
        password: await passwords.hash('right'),
        createdAtMs: nowMs,
      }),
    );
    const box = { seal: String, open: String } as never;
    const sessions = createSessions(database, systemClock);
    const codes = createOneTimeCodes(box, systemClock);
    const signIn = createSignIn({ database, clock: systemClock, codes, sessions, passwords });
    const ip = email;
    const signInResult = await signIn.byPassword({ email, password: 'right', ip });
    if (!('sessionToken' in signInResult)) throw new Error(`rejected: ${signInResult.failure}`);
    expectEqual((await sessions.find(signInResult.sessionToken))?.user.email, email);
    const attempts = [];
    for (let count = 0; count < 6; count += 1)
      attempts.push(await signIn.byPassword({ email, password: 'wrong', ip }));
    expectEqual(
      attempts.map((attempt) => 'failure' in attempt && attempt.failure),
      [...Array<string>(5).fill('sign_in_failed'), 'locked'],
    );
  },
  'processes share rate-limit usage': async (database) => {
    const [firstId, secondId] = [makeId('webhookEvent'), makeId('webhookEvent')];
    const [ownStore, otherStore] = [
      createUsageStore(database, firstId, systemClock),
      createUsageStore(database, secondId, systemClock),
    ];
    for (const uses of [3, 5]) await ownStore.write([{ name: firstId, uses }]);
    expectEqual((await otherStore.read([firstId])).uses, [
      { processId: firstId, name: firstId, uses: 5 },
    ]);
    await ownStore.remove();
  },
  'one process archives and drops old weeks and deletes old rows': async (database) => {
    const folder = mkdtempSync(join(tmpdir(), 'trueward-probe-'));
    const [week] = await listWeeks(database, nowMs + 30 * dayMs);
    if (!week) throw new Error('there is no partition');
    try {
      for (let times = 0; times < 2; times += 1)
        await archiveWeek(database, week, folder, systemClock, () => undefined);
      expectEqual(await isArchived(database, week), true);
    } finally {
      rmSync(folder, { recursive: true });
    }
    for (const week of await listWeeks(database, nowMs - 3_650 * dayMs)) {
      await isArchived(database, week);
      await dropWeek(database, week);
    }
    const retention = {
      decisionsMs: 3_650 * dayMs,
      auditMs: 3_650 * dayMs,
      archiveDirectory: undefined,
    };
    await deleteOldRows(database, nowMs, retention, new AbortController().signal);
    const chore = makeId('webhookEvent');
    expectEqual(await claimChore(database, chore, 60_000, systemClock.nowMs()), true);
    expectEqual(await claimChore(database, chore, 60_000, systemClock.nowMs()), false);
    expectEqual(await claimChore(database, chore, 0, systemClock.nowMs()), true);
  },
  'every table can be sharded by account: each unique index starts with account_id': async (
    database,
  ) => {
    const rows = await database.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE relnamespace = current_schema()::regnamespace AND indisunique AND attname <> 'account_id'
          AND relname NOT IN ('migration_lock', 'migrations')`,
    );
    expectEqual(rows, []);
  },
};
