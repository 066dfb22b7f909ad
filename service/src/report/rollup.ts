import type { Queries } from '../store/database.ts';
import { arraysOf, type Column, unnest } from '../store/unnest.ts';

/** What reports count by, beside environment and hour. */
export interface Dimensions {
  placement: string;
  creativeId: string | null;
  sourceId: string | null;
  advertiserId: string | null;
  houseAdId: string | null;
}

/** One thing to count: `filled`, `impressions`, `completes`, `rewards_earned` … */
export interface Count {
  environment: string;
  dimensions: Dimensions;
  atMs: number;
  metric: string;
  /** How many; absent: one. */
  times?: number;
  /** Of what was not filled, denied or rejected; otherwise absent. */
  reason?: string;
}

/** Reports count by the hour. */
export const hourMs = 3_600_000;

/** How much is added to one row of `rollups`. */
interface Sum {
  environment: string;
  placement: string;
  creativeId: string;
  sourceId: string;
  advertiserId: string;
  houseAdId: string;
  metric: string;
  reason: string;
  hourMs: number;
  count: number;
}

const groupColumns: readonly Column<Sum>[] = [
  { name: 'environment', type: 'text', read: (sum) => sum.environment },
  { name: 'placement', type: 'text', read: (sum) => sum.placement },
  { name: 'creative_id', type: 'text', read: (sum) => sum.creativeId },
  { name: 'source_id', type: 'text', read: (sum) => sum.sourceId },
  { name: 'advertiser_id', type: 'text', read: (sum) => sum.advertiserId },
  { name: 'house_ad_id', type: 'text', read: (sum) => sum.houseAdId },
  { name: 'metric', type: 'text', read: (sum) => sum.metric },
  { name: 'reason', type: 'text', read: (sum) => sum.reason },
  { name: 'hour', type: 'timestamptz', read: (sum) => sum.hourMs },
];
const columns: readonly Column<Sum>[] = [
  ...groupColumns,
  { name: 'count', type: 'bigint', read: (sum) => sum.count },
];
const names = groupColumns.map(({ name }) => name);
const group = names.join(', ');

/**
 * The statement that stores the arrays of {@link sumsOf}, from parameter `$first` on; `$1` is the account. It only
 * inserts: transactions that count the same at the same time never wait for each other.
 */
export const addSums = (first: number): string =>
  `INSERT INTO rollup_deltas (account_id, ${group}, count) SELECT $1, ${unnest(columns, first)}`;

const addSumsAlone = addSums(2);

/** Adds to the hourly roll-ups of one account, in the transaction of what is counted. */
export async function addToRollups(
  queries: Queries,
  accountId: string,
  counts: readonly Count[],
): Promise<void> {
  if (counts.length === 0) return;
  await queries.execute(addSumsAlone, [accountId, ...sumsOf(counts)]);
}

/** One row per hour and group. */
export function sumsOf(counts: readonly Count[]): unknown[][] {
  const sums = new Map<string, Sum>();
  for (const { environment, dimensions, atMs, metric, reason = '', times = 1 } of counts) {
    const { placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
    const hour = Math.floor(atMs / hourMs);
    const ad = `${placement} ${creativeId ?? ''} ${sourceId ?? ''} ${advertiserId ?? ''} ${houseAdId ?? ''}`;
    const key = `${hour} ${environment} ${ad} ${metric} ${reason}`;
    const sum = sums.get(key);
    if (sum) sum.count += times;
    else
      sums.set(key, {
        environment,
        placement,
        creativeId: creativeId ?? '',
        sourceId: sourceId ?? '',
        advertiserId: advertiserId ?? '',
        houseAdId: houseAdId ?? '',
        metric,
        reason,
        hourMs: hour * hourMs,
        count: times,
      });
  }
  return arraysOf(columns, [...sums.values()]);
}

/**
 * One statement, so that whoever reads `rollup_counts` sees each count once, before and after. Two folds never wait
 * for the same deltas. Roll-up rows are locked in the order in which the previous release does, which updates them
 * directly: hour first, then the rest as one text, by code units.
 */
const fold = `WITH taken AS (
    DELETE FROM rollup_deltas WHERE account_id = $1 AND id = ANY(ARRAY(
      SELECT id FROM rollup_deltas WHERE account_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING ${group}, count),
  added AS (
    INSERT INTO rollups (account_id, ${group}, count)
      SELECT $1, ${group}, sum(count)::bigint FROM taken GROUP BY ${group}
        ORDER BY hour, concat_ws(' ', ${names.filter((name) => name !== 'hour').join(', ')}) COLLATE "C"
      ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count)
  SELECT count(*)::bigint AS deltas FROM taken`;

/** Moves up to `atMost` deltas of one account into its roll-ups; returns how many. */
export async function foldDeltas(
  queries: Queries,
  accountId: string,
  atMost: number,
): Promise<number> {
  const [row] = await queries.query<{ deltas: number }>(fold, [accountId, atMost]);
  return row?.deltas ?? 0;
}
