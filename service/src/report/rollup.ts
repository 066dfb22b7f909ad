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

/** A row of `rollups`, and how much is added to it. */
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
const group = groupColumns.map(({ name }) => name).join(', ');

/** The statement that adds the arrays of {@link sumsOf} to the roll-ups, from parameter `$first` on; `$1` is the account. */
export const addSums = (first: number): string =>
  `INSERT INTO rollups (account_id, ${group}, count) SELECT $1, ${unnest(columns, first)}
    ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count`;

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

/** One row per hour and group, in one order everywhere, so that two processes never deadlock. */
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
  const sorted = [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  return arraysOf(columns, sorted);
}
