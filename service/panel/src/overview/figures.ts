import type { ReportRow } from '@trueward/protocol/wire';

/** What the overview counts. */
export const counted = [
  'requests',
  'filled',
  'impressions',
  'starts',
  'completes',
  'rewards_earned',
  'rewards_denied',
  'rewards_expired',
] as const;

type Counts = Record<(typeof counted)[number], number>;

/** Counts, and the shares that follow from them, in per cent; absent: nothing to divide by. */
export interface Figures extends Counts {
  fill?: number;
  completion?: number;
  reward?: number;
}

/** The figures of some rows together. */
export function sumUp(rows: readonly ReportRow[]): Figures {
  const sums = Object.fromEntries(
    counted.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as Counts;
  const decided = sums.rewards_earned + sums.rewards_denied + sums.rewards_expired;
  return {
    ...sums,
    ...share('fill', sums.filled, sums.requests),
    ...share('completion', sums.completes, sums.starts),
    ...share('reward', sums.rewards_earned, decided),
  };
}

const share = (name: string, part: number, whole: number): object =>
  whole === 0 ? {} : { [name]: Math.round((part / whole) * 1_000) / 10 };

/** One point of a plot: the figures of a period, and of the period before it that it compares with. */
export interface Point extends Figures {
  period: string;
  previous?: Figures;
}

/** A point for each period, those in which nothing happened included. */
export function toPoints(
  periods: readonly string[],
  rows: readonly ReportRow[],
  previousPeriods: readonly string[] = [],
  previousRows: readonly ReportRow[] = [],
): Point[] {
  const figuresOf = (all: readonly ReportRow[], period: string | undefined) =>
    sumUp(all.filter((row) => Date.parse(row.period) === Date.parse(period ?? '')));
  return periods.map((period, index) => ({
    period,
    ...figuresOf(rows, period),
    ...(previousPeriods.length === 0
      ? {}
      : { previous: figuresOf(previousRows, previousPeriods[index]) }),
  }));
}

/** The figures of each group, the one with most requests first. */
export function byGroup(
  rows: readonly ReportRow[],
  dimension: 'placement',
): (Figures & { name: string })[] {
  const names = [...new Set(rows.map((row) => row[dimension] ?? ''))];
  return names
    .map((name) => ({ name, ...sumUp(rows.filter((row) => (row[dimension] ?? '') === name)) }))
    .toSorted((a, b) => b.requests - a.requests);
}

/** Why there was no ad, and how often, the commonest reason first. */
export function reasonsForNoAd(rows: readonly ReportRow[]): { reason: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const { reasons } of rows) {
    for (const [reason, count] of Object.entries({ ...reasons.no_fill, ...reasons.blocked })) {
      sums.set(reason, (sums.get(reason) ?? 0) + count);
    }
  }
  return [...sums]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((a, b) => b.count - a.count);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The time ranges to choose from. */
export const ranges = {
  day: { name: 'Last 24 hours', interval: 'hour', count: 24 },
  week: { name: 'Last 7 days', interval: 'day', count: 7 },
  month: { name: 'Last 30 days', interval: 'day', count: 30 },
  quarter: { name: 'Last 90 days', interval: 'day', count: 90 },
} as const;

export type RangeName = keyof typeof ranges;

/** Whole hours or days (UTC) of a report, the running one included. */
export interface TimeRange {
  interval: 'hour' | 'day';
  from: Date;
  to: Date;
  /** When each period begins. */
  periods: string[];
}

/** The range that ends now, or, `back` times its length earlier, the one that it is compared with. */
export function timeRange(name: RangeName, nowMs: number, back = 0): TimeRange {
  const { interval, count } = ranges[name];
  const stepMs = interval === 'hour' ? hourMs : dayMs;
  const endMs = (Math.floor(nowMs / stepMs) + 1 - back * count) * stepMs;
  const startMs = endMs - count * stepMs;
  const periods = Array.from({ length: count }, (_value, index) =>
    new Date(startMs + index * stepMs).toISOString(),
  );
  return { interval, from: new Date(startMs), to: new Date(endMs), periods };
}
