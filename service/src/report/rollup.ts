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
  if (counts.length === 0) return;
  const sums = groupCounts(counts);
  const times = counts.map((count) => count.times ?? 1);
  await queries.execute(addSumsAlone, [accountId, ...sums.columns, sumTimes(sums, times)]);
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

/** The statement that adds the arrays of {@link Sums} and of {@link sumTimes}, from parameter `$first` on; `$1` is the account. */
export const addSums = (first: number): string =>
  `INSERT INTO rollups (account_id, ${group}, count) SELECT $1, ${unnest(columns, first)}
    ON CONFLICT (account_id, ${group}) DO UPDATE SET count = rollups.count + excluded.count`;

const addSumsAlone = addSums(2);

/** The rows that counts are added to, without how many. */
export interface Sums {
  columns: readonly Buffer[];
  /** The row of each count. */
  rowOf: readonly number[];
  rows: number;
}

interface Row {
  /** What is the same of no other one; none of its parts holds a space. */
  name: string;
  /** In the order of `textColumns`. */
  texts: string[];
  hourMs: number;
}

/** One row per hour and group, in one order everywhere, so that two processes never wait for each other. */
export function groupCounts(counts: readonly Count[]): Sums {
  // To name an ad takes longer than to count, and many counts are of one decision: it is named once.
  const known = new Map<Dimensions, Map<string, Row>>();
  const byAd = new Map<string, Map<string, Row>>();
  const rowsOf = (dimensions: Dimensions): Map<string, Row> => {
    const ad = adOf(dimensions).join(' ');
    const found = byAd.get(ad) ?? new Map<string, Row>();
    byAd.set(ad, found);
    known.set(dimensions, found);
    return found;
  };
  const rowOfCounts = counts.map(({ environment, dimensions, atMs, metric, reason = '' }) => {
    const ofAd = known.get(dimensions) ?? rowsOf(dimensions);
    const hour = Math.floor(atMs / hourMs);
    const what = `${environment} ${hour} ${metric} ${reason}`;
    let row = ofAd.get(what);
    if (!row) {
      const texts = [environment, ...adOf(dimensions), metric, reason];
      row = { name: `${hour} ${texts.join(' ')}`, texts, hourMs: hour * hourMs };
      ofAd.set(what, row);
    }
    return row;
  });
  const rows = [...new Set(rowOfCounts)].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const places = new Map(rows.map((row, place) => [row, place]));
  return {
    columns: [
      ...textColumns.map((_, index) => textArray(rows.map(({ texts }) => texts[index]))),
      timeArray(rows.map((row) => row.hourMs)),
    ],
    rowOf: rowOfCounts.map((row) => places.get(row) ?? 0),
    rows: rows.length,
  };
}

/** How many are added to each row. */
export function sumTimes({ rowOf, rows }: Sums, times: readonly number[]): Buffer {
  const sums = Array<number>(rows).fill(0);
  for (const [index, row] of rowOf.entries()) sums[row] = (sums[row] ?? 0) + (times[index] ?? 0);
  return bigintArray(sums);
}

const adOf = (dimensions: Dimensions): string[] => {
  const { placement, creativeId, sourceId, advertiserId, houseAdId } = dimensions;
  return [placement, creativeId ?? '', sourceId ?? '', advertiserId ?? '', houseAdId ?? ''];
};
