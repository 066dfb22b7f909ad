import type { Queries, Scope } from '../store/database.ts';
import { type ReportFilter, reportColumns, requestResults } from './report.ts';

/** The counts by which the top can be ranked, with the roll-up metrics that they add up. */
export const topCounts = {
  requests: requestResults,
  filled: ['filled'],
  impressions: ['impressions'],
  clicks: ['clicks'],
  rewards_earned: ['rewards_earned'],
} as const satisfies Record<string, readonly string[]>;
export type TopCount = keyof typeof topCounts;

export interface TopQuery {
  fromMs: number;
  toMs: number;
  dimension: ReportFilter;
  /** The count that ranks. */
  by: TopCount;
  /** Counts only what this object took part in. */
  only: Partial<Record<ReportFilter, string>>;
  limit: number;
}

/** One placement's, ad's or other object's counts. */
export type TopRow = Record<TopCount, number> & {
  /** A placement's name, or the id of another object. */
  value: string;
};

/**
 * Returns the objects of a dimension with the highest counts, highest first. A report can't tell: it returns every
 * object and period, and refuses to return too many.
 */
export function readTop(
  queries: Queries,
  { accountId, environment }: Scope,
  { fromMs, toMs, dimension, by, only, limit }: TopQuery,
): Promise<TopRow[]> {
  const column = reportColumns[dimension];
  const filters = Object.entries(only) as [ReportFilter, string][];
  const sums = Object.entries(topCounts).map(
    ([name, metrics]) =>
      `coalesce(sum(count) FILTER (WHERE metric IN (${metrics.map((metric) => `'${metric}'`).join(', ')})), 0)::bigint AS ${name}`,
  );
  return queries.query<TopRow>(
    `SELECT ${column} AS value, ${sums.join(', ')}
      FROM rollup_counts
      WHERE account_id = $1 AND environment = $2 AND hour >= $3 AND hour < $4
        AND metric = ANY($5::text[]) AND ${column} <> ''
        ${filters.map(([name], index) => `AND ${reportColumns[name]} = $${index + 7}`).join(' ')}
      GROUP BY ${column} ORDER BY ${by} DESC, ${column} LIMIT $6`,
    [
      accountId,
      environment,
      new Date(fromMs),
      new Date(toMs),
      Object.values(topCounts).flat(),
      limit,
      ...filters.map(([, value]) => value),
    ],
  );
}
