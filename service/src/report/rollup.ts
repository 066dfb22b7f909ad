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
  /** Of what was not filled, denied or rejected; otherwise absent. */
  reason?: string;
}

const hourMs = 3_600_000;

/** Adds to the hourly sums of one account, in the transaction of what is counted. */
export async function addToRollups(
  queries: Queries,
  accountId: string,
  counts: readonly Count[],
): Promise<void> {
  if (counts.length === 0) return;
  await queries.query(addRows('$2'), [accountId, JSON.stringify(sumCounts(counts))]);
}

/** The statement that adds the rows of {@link sumCounts}; `$1` is the account. */
export const addRows = (rows: string): string =>
  `INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id,
      advertiser_id, house_ad_id, metric, reason, count)
    SELECT $1, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason, count
    FROM jsonb_to_recordset(${rows}::text::jsonb) AS row(environment text, hour timestamptz, placement text,
      creative_id text, source_id text, advertiser_id text, house_ad_id text, metric text, reason text, count bigint)
    ON CONFLICT (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason)
    DO UPDATE SET count = rollups.count + excluded.count`;

/** One row per hour and group, in one order everywhere, so that two processes never wait for each other. */
export function sumCounts(counts: readonly Count[]): object[] {
  const sums = new Map<string, { count: number } & Record<string, unknown>>();
  for (const { dimensions, atMs, metric, reason = '' } of counts) {
    const { environment, placement } = dimensions;
    const creative_id = dimensions.creativeId ?? '';
    const source_id = dimensions.sourceId ?? '';
    const advertiser_id = dimensions.advertiserId ?? '';
    const house_ad_id = dimensions.houseAdId ?? '';
    const hour = Math.floor(atMs / hourMs);
    // None of these holds a space.
    const key = `${environment} ${hour} ${placement} ${creative_id} ${source_id} ${advertiser_id} ${house_ad_id} ${metric} ${reason}`;
    const sum = sums.get(key);
    if (sum) sum.count += 1;
    else {
      const group = { placement, creative_id, source_id, advertiser_id, house_ad_id };
      const at = new Date(hour * hourMs).toISOString();
      sums.set(key, { environment, hour: at, ...group, metric, reason, count: 1 });
    }
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
