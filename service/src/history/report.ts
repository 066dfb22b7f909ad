import { setImmediate as nextTurn } from 'node:timers/promises';
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

/** The longest period of a report for each interval, in days. */
export const maxReportDays = { hour: 31, day: 400 } as const;
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

/** A period's counts for one combination of the dimensions' values. */
type Group = Partial<Record<ReportDimension, string>> & {
  /** The number of the bucket, from 1. */
  bucket: number;
  counts: readonly [metric: string, reason: string, count: number][];
};

/** How many rows are worked on at once, so that a large report doesn't delay players' requests. */
const sliceRows = 200;

/** Calls back for each item. Lets other work run after every {@link sliceRows}. */
async function forEachInSlices<Item>(
  items: readonly Item[],
  work: (item: Item) => void,
): Promise<void> {
  for (const [index, item] of items.entries()) {
    if (index % sliceRows === 0) await nextTurn();
    work(item);
  }
}

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
  const names = ['bucket', ...groupBy.map((name) => `"${name}"`)].join(', ');
  const columns = groupBy.map((name) => `${reportColumns[name]} AS "${name}", `).join('');
  const filters = reportFilters.filter((name) => only[name] !== undefined);
  const buckets = listBuckets({ fromMs, toMs }, interval, timeZone);
  const groups = await queries.query<Group>(
    `SELECT ${names}, jsonb_agg(jsonb_build_array(metric, metric_reason, count) ORDER BY metric, metric_reason) AS counts
      FROM (SELECT width_bucket(hour, $5::timestamptz[]) AS bucket, ${columns}metric, reason AS metric_reason,
          sum(count)::bigint AS count
        FROM rollup_counts
        WHERE account_id = $1 AND environment = $2 AND hour >= $3 AND hour < $4
          AND metric = ANY($6::text[])
          ${filters.map((name, index) => `AND ${reportColumns[name]} = ANY($${index + 7}::text[])`).join(' ')}
        GROUP BY ${names}, metric, metric_reason) AS sums
      GROUP BY ${names} ORDER BY ${names} LIMIT ${maxRows + 1}`,
    [
      scope.accountId,
      scope.environment,
      new Date(fromMs),
      new Date(toMs),
      buckets.map(formatInstant),
      [...reportMetrics.filter((metric) => metric !== 'requests'), pricesMetric],
      ...filters.map((name) => only[name]),
    ],
  );
  const data = await toReportRows(groups, buckets.map(formatInstant), groupBy);
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

/** Makes a row of each group. */
async function toReportRows(
  groups: readonly Group[],
  periods: readonly string[],
  groupBy: readonly ReportDimension[],
): Promise<ReportRow[]> {
  const sums = new Map<string, ReportRow>();
  const findSum = ({ bucket }: Group, values: Partial<Record<ReportDimension, string>>) => {
    const key = JSON.stringify([bucket, ...Object.values(values)]);
    const sum = sums.get(key) ?? { ...createEmptyRow(periods[bucket - 1] ?? ''), ...values };
    sums.set(key, sum);
    return sum;
  };
  await forEachInSlices(groups, (group) => {
    const values = Object.fromEntries(groupBy.map((name) => [name, group[name] ?? '']));
    const requests = group.counts
      .filter(([metric]) => requestResults.includes(metric))
      .reduce((total, [, , count]) => total + count, 0);
    // Requests are always counted in the row without a reason.
    const withoutReason = groupBy.includes('reason') ? { ...values, reason: '' } : values;
    if (requests > 0) findSum(group, withoutReason).requests += requests;
    const sum = findSum(group, values);
    for (const [name, reason, count] of group.counts) {
      const metric = (name === pricesMetric ? 'revenue_micros' : name) as keyof typeof sum.reasons;
      sum[metric] += count;
      if (reason !== '' && metric in sum.reasons)
        sum.reasons[metric][reason] = (sum.reasons[metric][reason] ?? 0) + count;
    }
  });
  const rows: ReportRow[] = [];
  await forEachInSlices([...sums.values()], (row) => rows.push(addRates(divideRevenue(row))));
  return rows;
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
export async function reportCsv(
  { data }: Report,
  groupBy: readonly ReportDimension[],
): Promise<string> {
  const columns = ['period', ...groupBy, ...reportMetrics, ...rates] as const;
  const lines: string[] = [];
  await forEachInSlices(data, (row) => {
    lines.push(columns.map((name) => quoteCsv(String(row[name] ?? ''))).join(','));
  });
  return [columns.join(','), ...lines, ''].join('\r\n');
}

const quoteCsv = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
