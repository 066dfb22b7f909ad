import { addSums, type Count, sumsOf } from '../report/rollup.ts';
import { createScopedLanes, type LaneParts } from '../store/scoped-lanes.ts';
import type { Database, TransactionOptions } from '../store/database.ts';
import { type Lane, retryLockTimeoutMs } from '../store/group-commit.ts';
import { arraysOf, type Column, unnest } from '../store/unnest.ts';
import type { WriteEvents } from '../resource/change-events.ts';
import type { DecisionRecord, MadeDecision } from './decision-record.ts';

/** The lanes on which decisions of one account and environment are committed together. */
export function createDecisionLanes(
  database: Database,
  writeEvents: WriteEvents,
  onDeliveries: () => void,
  lanes: LaneParts,
): Lane<MadeDecision, void> {
  return createScopedLanes(lanes, {
    async commit(items, { isRetry }) {
      const options = isRetry ? { lockTimeoutMs: retryLockTimeoutMs } : {};
      if (await recordDecisions(database, writeEvents, items, options)) onDeliveries();
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
  { name: 'invalid_reason', type: 'text', read: (row) => row.invalid_reason },
  { name: 'simulate', type: 'text', read: (row) => row.simulate },
  { name: 'user_ref', type: 'text', read: (row) => row.user_ref },
  { name: 'viewer', type: 'text', read: (row) => row.viewer },
  { name: 'custom_data', type: 'text', read: (row) => row.custom_data },
  { name: 'explain', type: 'jsonb', read: (row) => row.explain },
  { name: 'issued_at', type: 'timestamptz', read: (row) => row.issued_at },
  { name: 'expires_at', type: 'timestamptz', read: (row) => row.expires_at },
  { name: 'late_at', type: 'timestamptz', read: (row) => row.late_at },
];
const names = columns.map(({ name }) => name).join(', ');
const firstColumn = 3;

/** Decisions and their roll-ups in one statement: on the embedded store each statement is a round trip to its thread. */
const insert = `WITH made AS (
    INSERT INTO decisions (account_id, environment, reward_state, ${names})
      SELECT $1, $2, 'none', ${unnest(columns, firstColumn)})
  ${addSums(firstColumn + columns.length)}`;

const countOf = (environment: string, row: DecisionRecord): Count => ({
  environment,
  dimensions: {
    placement: row.placement,
    creativeId: row.creative_id,
    sourceId: row.source_id,
    advertiserId: row.advertiser_id,
    houseAdId: row.house_ad_id,
  },
  atMs: row.issued_at,
  metric: row.status,
  ...(row.reason === null ? {} : { reason: row.reason }),
});

/**
 * Writes decisions of one account and environment, their sums and their events. Hands back whether there
 * is something to deliver.
 */
export async function recordDecisions(
  database: Database,
  writeEvents: WriteEvents,
  items: readonly MadeDecision[],
  options: TransactionOptions = {},
): Promise<boolean> {
  const [first] = items;
  if (!first) return false;
  const { scope } = first;
  const { accountId, environment } = scope;
  const rows = items.map((item) => item.record);
  const counts = rows.map((row) => countOf(environment, row));
  const values = [accountId, environment, ...arraysOf(columns, rows), ...sumsOf(counts)];
  const events = items.flatMap(({ event }) => event ?? []);
  if (events.length === 0 && options.lockTimeoutMs === undefined) {
    await database.execute(insert, values);
    return false;
  }
  return database.transaction(async (queries) => {
    await queries.execute(insert, values);
    return writeEvents(queries, scope, events);
  }, options);
}
