import type { ReportRow } from '@trueward/protocol/wire';
import { query } from '../api/resources.ts';

/** Report metrics that the panel shows. */
export const countNames = [
  'requests',
  'filled',
  'impressions',
  'starts',
  'completes',
  'clicks',
  'rewards_earned',
  'rewards_denied',
  'rewards_expired',
] as const;

type Counts = Record<(typeof countNames)[number], number>;

/** Counts and the rates computed from them, in percent. A rate is absent when its denominator is zero. */
export interface Figures extends Counts {
  fill?: number;
  completion?: number;
  click?: number;
  reward?: number;
}

/** Adds up report rows, and computes the rates. */
export function sumRows(rows: readonly ReportRow[]): Figures {
  const sums = Object.fromEntries(
    countNames.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)]),
  ) as Counts;
  const settledRewards = sums.rewards_earned + sums.rewards_denied + sums.rewards_expired;
  return {
    ...sums,
    ...computeRate('fill', sums.filled, sums.requests),
    ...computeRate('completion', sums.completes, sums.starts),
    ...computeRate('click', sums.clicks, sums.impressions),
    ...computeRate('reward', sums.rewards_earned, settledRewards),
  };
}

/** Returns the revenue in report rows, in micros by currency, highest first. Currencies are not converted. */
export function sumRevenue(rows: readonly ReportRow[]): { currency: string; micros: number }[] {
  const sums = new Map<string, number>();
  for (const { reasons } of rows) {
    for (const [currency, micros] of Object.entries(reasons.revenue_micros))
      sums.set(currency, (sums.get(currency) ?? 0) + micros);
  }
  return [...sums]
    .map(([currency, micros]) => ({ currency, micros }))
    .toSorted((a, b) => b.micros - a.micros);
}

const computeRate = (name: string, part: number, whole: number): object =>
  whole === 0 ? {} : { [name]: Math.round((part / whole) * 1_000) / 10 };

/** A point in a plot: the figures for a period and for its comparison period. */
export interface Point extends Figures {
  period: string;
  previous?: Figures;
}

/** Returns a point for each period, including periods without requests. */
export function toPoints(
  periods: readonly string[],
  rows: readonly ReportRow[],
  previousPeriods: readonly string[] = [],
  previousRows: readonly ReportRow[] = [],
): Point[] {
  const sumPeriod = (allRows: readonly ReportRow[], period: string | undefined) =>
    sumRows(allRows.filter((row) => Date.parse(row.period) === Date.parse(period ?? '')));
  return periods.map((period, index) => ({
    period,
    ...sumPeriod(rows, period),
    ...(previousPeriods.length === 0
      ? {}
      : { previous: sumPeriod(previousRows, previousPeriods[index]) }),
  }));
}

/** Returns the reasons why ad requests were not filled, with their counts, most frequent first. */
export function countNoAdReasons(rows: readonly ReportRow[]): { reason: string; count: number }[] {
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

/** Time ranges to choose from. */
export const ranges = {
  day: { name: 'Last 24 hours', interval: 'hour', count: 24 },
  week: { name: 'Last 7 days', interval: 'day', count: 7 },
  month: { name: 'Last 30 days', interval: 'day', count: 30 },
  quarter: { name: 'Last 90 days', interval: 'day', count: 90 },
} as const;

export type RangeName = keyof typeof ranges;

/** A report's time range: whole hours or days (UTC), including the current hour or day. */
export interface TimeRange {
  interval: 'hour' | 'day';
  from: Date;
  to: Date;
  /** The start of each period. */
  periods: string[];
}

/** Returns the range that ends now, shifted back by `rangesBack` times its length. */
export function makeTimeRange(name: RangeName, nowMs: number, rangesBack = 0): TimeRange {
  const { interval, count } = ranges[name];
  const stepMs = interval === 'hour' ? hourMs : dayMs;
  const endMs = (Math.floor(nowMs / stepMs) + 1 - rangesBack * count) * stepMs;
  const startMs = endMs - count * stepMs;
  const periods = Array.from({ length: count }, (_value, index) =>
    new Date(startMs + index * stepMs).toISOString(),
  );
  return { interval, from: new Date(startMs), to: new Date(endMs), periods };
}

/** The dimensions by which a report can be limited. */
export type Dimension = 'placement' | 'creative' | 'source' | 'advertiser' | 'house_ad';

/** What a page's figures are about. */
export interface Subject {
  dimension: Dimension;
  /** A placement's name, or the id of another object. */
  value: string;
}

/** Whether the figures are those of ads, which begin when an ad is chosen, and not those of requests. */
export const isAd = (subject: Subject | undefined): boolean =>
  subject !== undefined && subject.dimension !== 'placement';

/** The report dimension of a resource's objects. Other resources have no figures. */
export const dimensions: Readonly<Record<string, Dimension>> = {
  placements: 'placement',
  'house-ads': 'house_ad',
  creatives: 'creative',
  advertisers: 'advertiser',
  sources: 'source',
};

/** Returns what an object's figures are about; undefined if its resource has no figures. */
export function makeSubject(
  resource: string,
  { id, name }: { id: string | number; name?: unknown },
): Subject | undefined {
  const dimension = dimensions[resource];
  if (dimension === undefined) return undefined;
  return { dimension, value: String(dimension === 'placement' ? name : id) };
}

/** Returns the path of the report for a time range, limited to `subject`. As CSV, it has a row for each placement. */
export const reportPath = (
  { from, to, interval }: TimeRange,
  subject?: Subject,
  format?: 'csv',
): string =>
  query('/v1/reports', {
    from: from.toISOString(),
    to: to.toISOString(),
    interval,
    ...(subject && { [subject.dimension]: subject.value }),
    ...(format && { format, group_by: 'placement' }),
  });
