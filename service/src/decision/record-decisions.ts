import type { DecisionRequest, Explanation, Reward } from '@trueward/protocol/wire';
import {
  buildInsertRequests,
  buildRequestArrays,
  listDueNotices,
  requestColumnCount,
  type DemandRecord,
  type NewRequest,
} from '../demand/index.ts';
import {
  buildInsertSums,
  type Count,
  createCount,
  sumColumns,
  sumCounts,
} from '../history/rollup.ts';
import type { latencyMetric } from '../history/source-health.ts';
import type { EventDraft, WriteEvents } from '../resource/change-events.ts';
import type { Database, Queries, Scope, TransactionOptions } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { createScopedLanes, type LaneDeps } from '../store/lanes.ts';
import { buildArrays, checkStored, type Column, forAccount, unnest } from '../store/unnest.ts';
import type { PageEvidence } from './decision-state.ts';

/** A decision to store. */
export interface NewDecision {
  scope: Scope;
  record: DecisionRecord;
  /** The `policy.blocked` event, if a policy blocked the request. */
  event?: EventDraft;
  /** Set only if external sources were called. */
  demand?: DemandRecord;
  /** External source metrics, for reports. */
  sourceCounts?: readonly SourceCount[];
}

/** An increment to one of an external source's metrics. */
export interface SourceCount {
  sourceId: string;
  metric:
    | 'source_requests'
    | 'source_bids'
    | 'source_wins'
    | 'source_timeouts'
    | 'source_errors'
    | typeof latencyMetric;
  /** The latency bucket, for `latencyMetric`. */
  reason?: string;
}

/** A new row in the `decisions` table, keyed by column name. Times are in Unix milliseconds. */
export interface DecisionRecord {
  id: string;
  status: 'filled' | 'no_fill' | 'blocked';
  reason: string | null;
  placement: string;
  format: string;
  creative_id: string | null;
  media_format: 'video' | 'image' | 'html' | 'page' | null;
  advertiser_id: string | null;
  source_id: string | null;
  /** Null for an external ad. */
  house_ad_id: string | null;
  /** The house ad, if this decision counts toward its daily cap. */
  reserved_ad: string | null;
  reward: Reward | null;
  required_ms: number | null;
  /** What the reward will rest on; null if the service verifies the ad view itself. */
  evidence: PageEvidence | null;
  /** Set if the traffic is already known to be invalid. */
  invalid_reason: 'bot' | null;
  simulate: NonNullable<DecisionRequest['simulate']> | null;
  user_ref: string | null;
  /** The player's pseudonym. */
  viewer: string | null;
  child_directed: boolean;
  custom_data: string | null;
  /** Why each candidate was not chosen. In the live environment, this is stored only for decisions without an ad. */
  explain: readonly Explanation[] | null;
  issued_at: number;
  expires_at: number;
  late_at: number | null;
}

interface LanesDeps {
  database: Database;
  writeEvents: WriteEvents;
  lanes: LaneDeps;
  /** Called after the commit if webhook deliveries were queued. */
  onDeliveries(): void;
  /** Called after the commit if notices were stored. */
  onTrackers(accountId: string): void;
}

/** Creates lanes, each of which group-commits decisions for one account and environment. */
export function createDecisionLanes(deps: LanesDeps): Lane<NewDecision, void> {
  const { database, writeEvents } = deps;
  return createScopedLanes(deps.lanes, {
    async commit(items, { isRetry }) {
      const options = isRetry ? { lockTimeoutMs: retryLockTimeoutMs } : {};
      if (await recordDecisions(database, writeEvents, items, options)) deps.onDeliveries();
      const itemWithNotices = items.find(({ demand }) => demand && demand.notices.length > 0);
      if (itemWithNotices) deps.onTrackers(itemWithNotices.scope.accountId);
      return items.map(() => undefined);
    },
    gatherMs: database.gatherMs,
  });
}

const columns: readonly Column<DecisionRecord>[] = [
  { name: 'id', type: 'text', read: (row) => row.id },
  { name: 'status', type: 'text', read: (row) => row.status },
  { name: 'reason', type: 'text', read: (row) => row.reason },
  { name: 'placement', type: 'text', read: (row) => row.placement },
  { name: 'format', type: 'text', read: (row) => row.format },
  { name: 'creative_id', type: 'text', read: (row) => row.creative_id },
  { name: 'media_format', type: 'text', read: (row) => row.media_format },
  { name: 'advertiser_id', type: 'text', read: (row) => row.advertiser_id },
  { name: 'source_id', type: 'text', read: (row) => row.source_id },
  { name: 'house_ad_id', type: 'text', read: (row) => row.house_ad_id },
  { name: 'reserved_ad', type: 'text', read: (row) => row.reserved_ad },
  { name: 'reward', type: 'jsonb', read: (row) => row.reward },
  { name: 'required_ms', type: 'integer', read: (row) => row.required_ms },
  { name: 'evidence', type: 'text', read: (row) => row.evidence },
  { name: 'invalid_reason', type: 'text', read: (row) => row.invalid_reason },
  { name: 'simulate', type: 'text', read: (row) => row.simulate },
  { name: 'user_ref', type: 'text', read: (row) => row.user_ref },
  { name: 'viewer', type: 'text', read: (row) => row.viewer },
  { name: 'child_directed', type: 'boolean', read: (row) => row.child_directed },
  { name: 'custom_data', type: 'text', read: (row) => row.custom_data },
  { name: 'explain', type: 'jsonb', read: (row) => row.explain },
  { name: 'issued_at', type: 'timestamptz', read: (row) => row.issued_at },
  { name: 'expires_at', type: 'timestamptz', read: (row) => row.expires_at },
  { name: 'late_at', type: 'timestamptz', read: (row) => row.late_at },
];
const names = columns.map(({ name }) => name).join(', ');
const firstColumnParam = 3;

const insertDecisions = `WITH inserted AS (
    INSERT INTO decisions (account_id, environment, reward_state, ${names})
      ${forAccount(`$2, 'none', ${unnest(columns, firstColumnParam)}`)} RETURNING 1)`;
const countStored = 'SELECT count(*) AS stored FROM inserted';
const firstSumParam = firstColumnParam + columns.length;

/**
 * Inserts decisions and their roll-ups. They share one statement, because every statement costs a round trip to the
 * server or to the embedded database's thread.
 */
const insert = `${insertDecisions},
  counted AS (${buildInsertSums(firstSumParam)})
  ${countStored}`;

interface DemandRow {
  id: string;
  issuedAtMs: number;
  demand: DemandRecord;
}

const demandColumns: readonly Column<DemandRow>[] = [
  { name: 'decision_id', type: 'text', read: ({ id }) => id },
  { name: 'demand', type: 'jsonb', read: ({ demand }) => demand },
];
const firstRequestParam = firstSumParam + demandColumns.length;
/** Like {@link insert}, but also inserts the external demand and the notices to send. */
const insertWithDemand = `${insertDecisions},
  demanded AS (
    INSERT INTO decision_demand (account_id, decision_id, demand) ${forAccount(unnest(demandColumns, firstSumParam))}),
  noticed AS (${buildInsertRequests(firstRequestParam)}),
  counted AS (${buildInsertSums(firstRequestParam + requestColumnCount)})
  ${countStored}`;

const readDimensions = (row: DecisionRecord) => ({
  placement: row.placement,
  creativeId: row.creative_id,
  sourceId: row.source_id,
  advertiserId: row.advertiser_id,
  houseAdId: row.house_ad_id,
});

/** Returns counts for every source that was called, no matter which ad was chosen. */
const countSources = ({ scope, record, sourceCounts = [] }: NewDecision): Count[] =>
  sourceCounts.map(({ sourceId, metric, reason }) => {
    const { placement, issued_at } = record;
    const emptyDimensions = { creativeId: null, advertiserId: null, houseAdId: null };
    return createCount(
      scope,
      { placement, sourceId, ...emptyDimensions },
      issued_at,
      metric,
      reason,
    );
  });

/**
 * Writes decisions for one account and environment, including their counts and webhook events. Returns whether webhook
 * deliveries were queued.
 */
export async function recordDecisions(
  database: Database,
  writeEvents: WriteEvents,
  items: readonly NewDecision[],
  options: TransactionOptions = {},
): Promise<boolean> {
  const [first] = items;
  if (!first) return false;
  const { scope } = first;
  const rows = items.map((item) => item.record);
  const counts = [
    ...rows.map((row) =>
      createCount(scope, readDimensions(row), row.issued_at, row.status, row.reason ?? undefined),
    ),
    ...items.flatMap(countSources),
  ];
  const { accountId, environment } = scope;
  const demands = items.flatMap(({ record, demand }): DemandRow[] =>
    demand ? [{ id: record.id, issuedAtMs: record.issued_at, demand }] : [],
  );
  const values = [accountId, environment, ...buildArrays(columns, rows)];
  const sums = buildArrays(sumColumns, sumCounts(counts));
  const insertAll = async (queries: Queries): Promise<void> => {
    const [result] = await (demands.length === 0
      ? queries.execute<{ stored: number }>(insert, [...values, ...sums])
      : queries.execute<{ stored: number }>(insertWithDemand, [
          ...values,
          ...buildArrays(demandColumns, demands),
          ...buildRequestArrays(demands.flatMap(buildRequests)),
          ...sums,
        ]));
    checkStored(accountId, result?.stored, rows.length);
  };
  const events = items.flatMap(({ event }) => event ?? []);
  if (events.length === 0 && options.lockTimeoutMs === undefined) {
    await insertAll(database);
    return false;
  }
  return database.transaction(async (queries) => {
    await insertAll(queries);
    return writeEvents(queries, scope, events);
  }, options);
}

/** How long after its decision a notice may be sent. */
const noticeExpiryMs = 600_000;

/** Builds requests for the due notices. They contain no player data. */
const buildRequests = ({ id, issuedAtMs, demand }: DemandRow): NewRequest[] =>
  listDueNotices(demand).map((tracker) => ({
    decisionId: id,
    tracker,
    dueAtMs: issuedAtMs,
    lateAtMs: issuedAtMs + noticeExpiryMs,
    client: null,
  }));
