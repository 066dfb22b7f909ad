import { randomBytes } from 'node:crypto';
import { recordDecisions, type DecisionRecord } from '../../src/decision/record-decisions.ts';
import { appendEvents } from '../../src/event/timeline.ts';
import { lockViewers, readDecisions, readEvidence } from '../../src/event/event-store.ts';
import { writeTransitions } from '../../src/event/transitions.ts';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { expireRewards } from '../../src/reward/expire-rewards.ts';
import type { Database } from '../../src/store/database.ts';
import { isArchived } from '../../src/store/archive-week.ts';
import { migrate } from '../../src/store/migrate.ts';
import { dropWeek, listWeeks, createPartitions } from '../../src/store/partitions.ts';
import { deleteOldRows } from '../../src/upkeep/delete-old-rows.ts';
import { claimChore } from '../../src/upkeep/claim-chore.ts';
import { claimDue } from '../../src/webhook/delivery-store.ts';

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
  invalid_reason: null,
  simulate: null,
  id: decisionId,
  user_ref: 'probe',
  viewer: 'probe',
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

const expectEqual = (actual: unknown, expected: unknown): void => {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
};

/** The service's own statements, in the forms that distributed databases support least. */
export const probes: Record<string, (database: Database) => Promise<void>> = {
  'migrations run under a lock row': async (database) => void (await migrate(database)),
  'partitions are created while the service runs': (database) => createPartitions(database, nowMs),
  'a prepared statement with binary arrays inserts decisions and their counts': async (
    database,
  ) => {
    await recordDecisions(database, async () => false, [{ scope, record }]);
    await recordDecisions(database, async () => false, [
      { scope, record: { ...record, id: makeId('decision') } },
    ]);
    const rows = await database.query(
      `SELECT count FROM rollup_counts WHERE account_id = $1 AND metric = 'filled'`,
      [scope.accountId],
    );
    expectEqual(rows, [{ count: 2 }]);
  },
  'rows of one account are locked, and events are stored once': (database) =>
    database.transaction(async (queries) => {
      await lockViewers(queries, scope, ['probe'], nowMs);
      expectEqual((await readDecisions(queries, scope, [decisionId], { lock: true })).length, 1);
      for (const expected of ['new', 'stored']) {
        const known = await readEvidence(queries, scope.accountId, [decisionId]);
        const { outcomes, written } = appendEvents(queries, scope.accountId, [event], known);
        await written;
        expectEqual(outcomes.get(event), expected);
      }
    }),
  'of two concurrent reward changes, one fails': async (database) => {
    const [before] = await readDecisions(database, scope, [decisionId], { lock: false });
    if (!before) throw new Error('the decision is missing');
    const after = { ...before, rewardState: 'pending' as const };
    const write = () => writeTransitions(database, scope.accountId, [{ before, after }]);
    await write();
    const [again] = await Promise.allSettled([write()]);
    expectEqual(again?.status, 'rejected');
  },
  'rewards expire across accounts without locking all of them': async (database) => {
    expectEqual(await expireRewards(database, systemClock), [decisionId]);
    expectEqual(await expireRewards(database, systemClock), []);
  },
  'due deliveries of all accounts are claimed once': async (database) => {
    const at = new Date(nowMs - 1_000).toISOString();
    await database.query(
      `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
        VALUES ($1, 'live', 'webhook', 'whk_probe', '{}', 1, now(), now())`,
      [scope.accountId],
    );
    await database.query(
      `INSERT INTO deliveries (account_id, id, environment, event_id, webhook_id, state, attempt, next_at, created_at)
        VALUES ($1, $2, 'live', 'evt_probe', 'whk_probe', 'pending', 0, $3, $3)`,
      [scope.accountId, makeId('delivery'), at],
    );
    const claimOurs = async (): Promise<number> => {
      const all = await claimDue(database, {
        endpoints: [],
        perEndpoint: 4,
        accounts: [],
        perAccount: 100,
        limit: 100,
        leaseMs: 20_000,
      });
      return all.filter(({ accountId }) => accountId === scope.accountId).length;
    };
    expectEqual(await claimOurs(), 1);
    expectEqual(await claimOurs(), 0);
    for (const table of ['deliveries', 'resources'])
      await database.query(`DELETE FROM ${table} WHERE account_id = $1`, [scope.accountId]);
  },
  'one process archives and drops old weeks and deletes old rows': async (database) => {
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
    expectEqual(await claimChore(database, 'probe', 60_000), true);
    expectEqual(await claimChore(database, 'probe', 60_000), false);
  },
  'every table can be sharded by account: each unique index starts with it': async (database) => {
    const rows = await database.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE relnamespace = current_schema()::regnamespace AND indisunique AND attname <> 'account_id'
          AND relname NOT IN ('migration_lock', 'migrations')`,
    );
    expectEqual(rows, []);
  },
};
