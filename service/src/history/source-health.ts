import { formatInstant, hourMs } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';

/** The roll-up metric for response times. Its `reason` is the upper bound of a latency bucket. */
export const latencyMetric = 'source_latency';

/** The upper bounds of the latency buckets, in milliseconds. The last bound is a source's maximum timeout. */
const bounds = [
  10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000,
];

/** Returns the upper bound of the latency bucket to which a response time belongs. */
export const getLatencyBucket = (ms: number): string =>
  String(bounds.find((bound) => ms <= bound) ?? bounds.at(-1));

const metrics = ['requests', 'bids', 'wins', 'timeouts', 'errors'] as const;
type Counts = Record<(typeof metrics)[number], number>;

export interface SourceHealth {
  /** The last 24 hours, including the current one, oldest first. */
  hours: (Counts & { hour: string })[];
  /** Latency percentiles for the last 24 hours, rounded up to bucket bounds. Absent if there were no requests. */
  latencyMs?: { p50: number; p95: number; p99: number };
}

/** Reads an external source's health from the roll-ups. */
export async function readSourceHealth(
  queries: Queries,
  scope: Scope,
  sourceId: string,
  nowMs: number,
): Promise<SourceHealth> {
  const firstMs = (Math.floor(nowMs / hourMs) - 23) * hourMs;
  const rows = await queries.query<{ hour: Date; metric: string; reason: string; count: number }>(
    `SELECT hour, metric, reason, sum(count)::bigint AS count FROM rollup_counts
      WHERE account_id = $1 AND environment = $2 AND source_id = $3 AND hour >= $4
        AND metric = ANY($5::text[])
      GROUP BY hour, metric, reason`,
    [
      scope.accountId,
      scope.environment,
      sourceId,
      new Date(firstMs),
      [...metrics.map((name) => `source_${name}`), latencyMetric],
    ],
  );
  const hours = Array.from({ length: 24 }, (_, index) => {
    const ms = firstMs + index * hourMs;
    const hourRows = rows.filter(({ hour }) => hour.getTime() === ms);
    const count = (metric: string): number =>
      hourRows.find((row) => row.metric === `source_${metric}`)?.count ?? 0;
    const counts = Object.fromEntries(metrics.map((name) => [name, count(name)])) as Counts;
    return { hour: formatInstant(ms), ...counts };
  });
  const latencyMs = computePercentiles(rows.filter(({ metric }) => metric === latencyMetric));
  return { hours, ...(latencyMs && { latencyMs }) };
}

function computePercentiles(
  buckets: readonly { reason: string; count: number }[],
): SourceHealth['latencyMs'] {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return undefined;
  const sortedBuckets = buckets
    .map(({ reason, count }) => ({ bound: Number(reason), count }))
    .toSorted((a, b) => a.bound - b.bound);
  const percentile = (share: number): number => {
    let cumulative = 0;
    for (const { bound, count } of sortedBuckets) {
      cumulative += count;
      if (cumulative >= total * share) return bound;
    }
    return sortedBuckets.at(-1)?.bound ?? 0;
  };
  return { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}
