import { bigintArray, textArray, timeArray } from '../store/binary-arrays.ts';
import type { Queries } from '../store/database.ts';

/** What reports count by. */
export interface Dimensions {
  environment: string;
  placement: string;
  creativeId: string | null;
  sourceId: string | null;
  advertiserId: string | null;
  houseAdId: string | null;
}

/** One thing to count: `requests`, `filled`, `impressions`, `completes`, `rewards_earned` … */
export interface Count {
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

/** Adds to the hourly sums of one account, in the transaction of what is counted. */
export async function addToRollups(
  queries: Queries,
  accountId: string,
  counts: readonly Count[],
): Promise<void> {
  if (counts.length > 0) await queries.execute(addSumsAlone, [accountId, ...sumCounts(counts)]);
}

const textColumns = [
  'environment',
  'placement',
  'creative_id',
  'source_id',
  'advertiser_id',
  'house_ad_id',
  'metric',
  'reason',
] as const;
const group = [...textColumns, 'hour'].join(', ');

/** The statement that adds the arrays of {@link sumCounts}, from parameter `$first` on; `$1` is the account. */
export function addSums(first: number): string {
  const types = [...textColumns.map(() => 'text'), 'timestamptz', 'bigint'];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  return `INSERT INTO rollups (account_id, ${group}, count) SELECT $1, * FROM unnest(${arrays})
    ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count`;
}

const addSumsAlone = addSums(2);

interface Sum {
  /** In the order of `textColumns`. */
  texts: string[];
  hourMs: number;
  count: number;
}

/** One row per hour and group, in one order everywhere, so that two processes never wait for each other. */
export function sumCounts(counts: readonly Count[]): Buffer[] {
  const sums = new Map<string, Sum>();
  for (const { dimensions, atMs, metric, times = 1, reason = '' } of counts) {
    const hour = Math.floor(atMs / hourMs);
    const { environment, placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
    const ads = `${creativeId ?? ''} ${sourceId ?? ''} ${advertiserId ?? ''} ${houseAdId ?? ''}`;
    // None of these holds a space.
    const name = `${environment} ${hour} ${placement} ${ads} ${metric} ${reason}`;
    const sum = sums.get(name);
    if (sum) sum.count += times;
    else {
      const texts = [environment, placement, ...ads.split(' '), metric, reason];
      sums.set(name, { texts, hourMs: hour * hourMs, count: times });
    }
  }
  const rows = [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  return [
    ...textColumns.map((_, index) => textArray(rows.map(({ texts }) => texts[index]))),
    timeArray(rows.map((row) => row.hourMs)),
    bigintArray(rows.map(({ count }) => count)),
  ];
}
