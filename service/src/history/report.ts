import { type reportDimensions, reportMetrics } from '@trueward/protocol';
import type { Report, ReportRow } from '@trueward/protocol/wire';
import { DomainError } from '../platform/domain-error.ts';
import { listBuckets } from './time-buckets.ts';
import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';

export type ReportDimension = (typeof reportDimensions)[number];

/** The dimensions by which a report can be limited. */
export const reportFilters = ['placement', 'creative', 'source', 'advertiser', 'house_ad'] as const;
export type ReportFilter = (typeof reportFilters)[number];

/** The parameters of a report. Times must be on the hour. */
export interface ReportQuery {
  fromMs: number;
  toMs: number;
  interval: 'hour' | 'day';
  groupBy: readonly ReportDimension[];
  /** The values to which the report is limited, by dimension. */
  only?: Partial<Record<ReportFilter, readonly string[]>>;
  /** IANA name of the time zone that defines days. */
  timeZone: string;
}

/** Maximum number of rows in a report. */
const maxRows = 10_000;

/**
 * The metrics that count ad requests by result. They add up to the number of requests, which has no roll-up metric of
 * its own.
 */
export const requestResults: readonly string[] = ['filled', 'no_fill', 'blocked'];

/**
 * The roll-up metric for revenue. It adds up CPMs (prices per thousand impressions), so the sum has to be divided by a
 * thousand. Its `reason` is the currency.
 */
const pricesMetric = 'cpm_micros';

/** The roll-up column for each report dimension. */
export const reportColumns: Record<ReportDimension, string> = {
  placement: 'placement',
  creative: 'creative_id',
  source: 'source_id',
  advertiser: 'advertiser_id',
  house_ad: 'house_ad_id',
  reason: 'reason',
};

type SumRow = Partial<Record<ReportDimension, string>> & {
  /** The number of the bucket, from 1. */
  bucket: number;
  metric: string;
  metricReason: string;
  count: number;
};

/**
 * Creates a report from the roll-ups. Each roll-up belongs to the period in which it starts. It covers an hour, so in
 * time zones with a fractional UTC offset, such as UTC+5:45, an hour around midnight counts toward the wrong day. After
 * two weeks, it covers a day in UTC ({@link rollUpDays}).
 *
 * @throws DomainError when the report has too many rows.
 */
export async function readReport(
  queries: Queries,
  scope: Scope,
  { fromMs, toMs, interval, groupBy, only = {}, timeZone }: ReportQuery,
): Promise<Report> {
  const groups = groupBy.map((name) => `${reportColumns[name]} AS "${name}"`);
  const filters = reportFilters.filter((name) => only[name] !== undefined);
  const buckets = listBuckets({ fromMs, toMs }, interval, timeZone);
  const rows = await queries.query<SumRow>(
    `SELECT width_bucket(hour, $5::timestamptz[]) AS bucket, metric, reason AS "metricReason", sum(count)::bigint AS count${groups.map((group) => `, ${group}`).join('')}
      FROM rollup_counts
      WHERE account_id = $1 AND environment = $2 AND hour >= $3 AND hour < $4
        AND metric IN (SELECT jsonb_array_elements_text($6::text::jsonb))
        ${filters.map((name, index) => `AND ${reportColumns[name]} IN (SELECT jsonb_array_elements_text($${index + 7}::text::jsonb))`).join(' ')}
      GROUP BY bucket, metric, "metricReason"${groupBy.map((name) => `, "${name}"`).join('')}
      ORDER BY bucket${groupBy.map((name) => `, "${name}"`).join('')}, metric, "metricReason"
      LIMIT ${maxRows * reportMetrics.length}`,
    [
      scope.accountId,
      scope.environment,
      new Date(fromMs),
      new Date(toMs),
      buckets.map(formatInstant),
      JSON.stringify([...reportMetrics.filter((metric) => metric !== 'requests'), pricesMetric]),
      ...filters.map((name) => JSON.stringify(only[name])),
    ],
  );
  const data = toReportRows(rows, buckets.map(formatInstant), groupBy);
  if (data.length > maxRows) {
    throw new DomainError(
      'invalid_request',
      `The report has more than ${maxRows} rows. Request a shorter period or fewer dimensions.`,
    );
  }
  return {
    from: formatInstant(fromMs),
    to: formatInstant(toMs),
    interval,
    tz: timeZone,
    data,
  };
}

/** Combines the metrics for each period and group into one row. */
function toReportRows(
  rows: readonly SumRow[],
  periods: readonly string[],
  groupBy: readonly ReportDimension[],
): ReportRow[] {
  const sums = new Map<string, ReportRow>();
  const findSum = (row: SumRow): ReportRow => {
    const group = Object.fromEntries(groupBy.map((name) => [name, row[name] ?? '']));
    const key = JSON.stringify([row.bucket, ...Object.values(group)]);
    const sum = sums.get(key) ?? { ...createEmptyRow(periods[row.bucket - 1] ?? ''), ...group };
    sums.set(key, sum);
    return sum;
  };
  for (const sumRow of rows) {
    const row = sumRow.metric === pricesMetric ? { ...sumRow, metric: 'revenue_micros' } : sumRow;
    // Requests are always counted in the row without a reason.
    if (requestResults.includes(row.metric)) findSum({ ...row, reason: '' }).requests += row.count;
    const sum = findSum(row);
    const metric = row.metric as (typeof reportMetrics)[number];
    sum[metric] += row.count;
    if (row.metricReason !== '' && metric in sum.reasons) {
      const reasons = sum.reasons[metric as keyof ReportRow['reasons']];
      reasons[row.metricReason] = (reasons[row.metricReason] ?? 0) + row.count;
    }
  }
  return [...sums.values()].map((row) => addRates(divideRevenue(row)));
}

/** Converts sums of prices to revenue. Rounds only the sums, because a price per impression can be below one micro. */
function divideRevenue(row: ReportRow): ReportRow {
  const divide = (sum: number): number => Math.round(sum / 1_000);
  const currencies = Object.entries(row.reasons.revenue_micros)
    .map(([currency, sum]) => [currency, divide(sum)] as const)
    .filter(([, sum]) => sum > 0);
  const reasons = { ...row.reasons, revenue_micros: Object.fromEntries(currencies) };
  return { ...row, revenue_micros: divide(row.revenue_micros), reasons };
}

const createEmptyRow = (period: string): ReportRow => ({
  period,
  ...(Object.fromEntries(reportMetrics.map((name) => [name, 0])) as Record<
    (typeof reportMetrics)[number],
    number
  >),
  reasons: {
    no_fill: {},
    blocked: {},
    rewards_denied: {},
    rewards_expired: {},
    trackers_failed: {},
    revenue_micros: {},
  },
});

function addRates(row: ReportRow): ReportRow {
  const computeRate = (name: string, part: number, whole: number) =>
    whole === 0 ? {} : { [name]: Math.round((part / whole) * 10_000) / 10_000 };
  return {
    ...row,
    ...computeRate('fill_rate', row.filled, row.requests),
    ...computeRate('view_through_rate', row.impressions, row.filled),
    ...computeRate('completion_rate', row.completes, row.starts),
  };
}

/** The rates, in the order of their CSV columns. */
const rates = ['fill_rate', 'view_through_rate', 'completion_rate'] as const;

/**
 * Formats a report as CSV (RFC 4180), with columns for the dimensions, the metrics and the rates. Contains reasons only
 * if the report is grouped by reason.
 */
export function reportCsv({ data }: Report, groupBy: readonly ReportDimension[]): string {
  const columns = ['period', ...groupBy, ...reportMetrics, ...rates] as const;
  const lines = data.map((row) =>
    columns.map((name) => quoteCsv(String(row[name] ?? ''))).join(','),
  );
  return [columns.join(','), ...lines, ''].join('\r\n');
}

const quoteCsv = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
