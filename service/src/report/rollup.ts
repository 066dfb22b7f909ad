import { bigintArray, textArray, timeArray } from '../store/binary-arrays.ts';
import type { Queries } from '../store/database.ts';
import { unnest } from '../store/unnest.ts';

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
];
const group = [...textColumns, 'hour'].join(', ');
const columns = [
  ...textColumns.map((name) => ({ name, type: 'text' })),
  { name: 'hour', type: 'timestamptz' },
  { name: 'count', type: 'bigint' },
];

/** The statement that adds the arrays of {@link sumCounts}, from parameter `$first` on; `$1` is the account. */
export const addSums = (first: number): string =>
  `INSERT INTO rollups (account_id, ${group}, count) SELECT $1, ${unnest(columns, first)}
    ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count`;

const addSumsAlone = addSums(2);

interface Sum {
  /** What is the same of no other one; none of its parts holds a space. */
  name: string;
  /** In the order of `textColumns`. */
  texts: string[];
  hourMs: number;
  count: number;
}

/** One row per hour and group, in one order everywhere, so that two processes never wait for each other. */
export function sumCounts(counts: readonly Count[]): Buffer[] {
  const sums: Sum[] = [];
  // To name an ad takes longer than to count, and many counts are of one decision: it is named once.
  const known = new Map<Dimensions, Map<string, Sum>>();
  const byAd = new Map<string, Map<string, Sum>>();
  const sumsOf = (dimensions: Dimensions): Map<string, Sum> => {
    const ad = adOf(dimensions).join(' ');
    const found = byAd.get(ad) ?? new Map<string, Sum>();
    byAd.set(ad, found);
    known.set(dimensions, found);
    return found;
  };
  for (const { environment, dimensions, atMs, metric, times = 1, reason = '' } of counts) {
    const ofAd = known.get(dimensions) ?? sumsOf(dimensions);
    const hour = Math.floor(atMs / hourMs);
    const what = `${environment} ${hour} ${metric} ${reason}`;
    let sum = ofAd.get(what);
    if (!sum) {
      const texts = [environment, ...adOf(dimensions), metric, reason];
      const name = `${hour} ${texts.join(' ')}`;
      sum = { name, texts, hourMs: hour * hourMs, count: 0 };
      ofAd.set(what, sum);
      sums.push(sum);
    }
    sum.count += times;
  }
  const rows = sums.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return [
    ...textColumns.map((_, index) => textArray(rows.map(({ texts }) => texts[index]))),
    timeArray(rows.map((row) => row.hourMs)),
    bigintArray(rows.map(({ count }) => count)),
  ];
}

const adOf = (dimensions: Dimensions): string[] => {
  const { placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
  return [placement, creativeId ?? '', sourceId ?? '', advertiserId ?? '', houseAdId ?? ''];
};
