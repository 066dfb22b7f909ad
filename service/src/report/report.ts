import { type reportDimensions, reportMetrics } from '@trueward/protocol';
import type { Report, ReportRow } from '@trueward/protocol/wire';
import { RefusedError } from '../platform/refused-error.ts';
import type { Scope, Queries } from '../store/database.ts';

export type ReportDimension = (typeof reportDimensions)[number];

/** What is asked for; times are whole hours, because sums are kept by the hour. */
export interface ReportQuery {
  fromMs: number;
  toMs: number;
  interval: 'hour' | 'day';
  groupBy: readonly ReportDimension[];
  /** IANA name of the zone whose days these are. */
  timeZone: string;
}

/** A report with more rows is of use to nobody, and of harm to the service. */
const maxRows = 10_000;

/** Each request ends as one of these, so that the roll-ups do not count requests beside them. */
const endings: readonly string[] = ['filled', 'no_fill', 'blocked'];

/** How the roll-ups call what a report groups by. */
const columns: Record<ReportDimension, string> = {
  placement: 'placement',
  creative: 'creative_id',
  source: 'source_id',
  advertiser: 'advertiser_id',
  reason: 'reason',
};

type SumRow = Partial<Record<ReportDimension, string>> & {
  period: Date;
  metric: string;
  why: string;
  count: number;
};

/**
 * Sums the roll-ups. An hour belongs to the day in which it begins, so in zones that differ from
 * UTC by half hours a day begins up to 45 minutes late.
 *
 * @throws RefusedError when the report would be too long.
 */
export async function readReport(
  queries: Queries,
  scope: Scope,
  { fromMs, toMs, interval, groupBy, timeZone }: ReportQuery,
): Promise<Report> {
  const groups = groupBy.map((name) => `${columns[name]} AS "${name}"`);
  const rows = await queries.query<SumRow>(
    `SELECT date_trunc($5, hour, $6) AS period, metric, reason AS why, sum(count)::bigint AS count${groups.map((group) => `, ${group}`).join('')}
      FROM rollup_counts
      WHERE account_id = $1 AND environment = $2 AND hour >= $3 AND hour < $4
        AND metric IN (SELECT jsonb_array_elements_text($7::text::jsonb))
      GROUP BY period, metric, why${groupBy.map((name) => `, "${name}"`).join('')}
      ORDER BY period${groupBy.map((name) => `, "${name}"`).join('')}, metric, why
      LIMIT ${maxRows * reportMetrics.length}`,
    [
      scope.accountId,
      scope.environment,
      new Date(fromMs),
      new Date(toMs),
      interval,
      timeZone,
      JSON.stringify(reportMetrics.filter((metric) => metric !== 'requests')),
    ],
  );
  const data = sumUp(rows, groupBy);
  if (data.length > maxRows) {
    throw new RefusedError(
      'invalid_request',
      `The report has more than ${maxRows} rows: ask for a shorter time or fewer groups.`,
    );
  }
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    interval,
    tz: timeZone,
    data,
  };
}

/** One row per period and group, from one row per period, group, metric and reason. Pure. */
export function sumUp(rows: readonly SumRow[], groupBy: readonly ReportDimension[]): ReportRow[] {
  const sums = new Map<string, ReportRow>();
  const sumOf = (row: SumRow): ReportRow => {
    const group = Object.fromEntries(groupBy.map((name) => [name, row[name] ?? '']));
    const key = JSON.stringify([row.period.getTime(), ...Object.values(group)]);
    const sum = sums.get(key) ?? { ...emptyRow(row.period.toISOString()), ...group };
    sums.set(key, sum);
    return sum;
  };
  for (const row of rows) {
    // A request has no reason; that it was not filled has one.
    if (endings.includes(row.metric)) sumOf({ ...row, reason: '' }).requests += row.count;
    const sum = sumOf(row);
    const metric = row.metric as (typeof reportMetrics)[number];
    sum[metric] += row.count;
    if (row.why !== '' && metric in sum.reasons) {
      const reasons = sum.reasons[metric as keyof ReportRow['reasons']];
      reasons[row.why] = (reasons[row.why] ?? 0) + row.count;
    }
  }
  return [...sums.values()].map(addRates);
}

const emptyRow = (period: string): ReportRow => ({
  period,
  ...(Object.fromEntries(reportMetrics.map((name) => [name, 0])) as Record<
    (typeof reportMetrics)[number],
    number
  >),
  reasons: { no_fill: {}, blocked: {}, rewards_denied: {}, rewards_expired: {} },
});

function addRates(row: ReportRow): ReportRow {
  const rate = (name: string, part: number, whole: number) =>
    whole === 0 ? {} : { [name]: Math.round((part / whole) * 10_000) / 10_000 };
  return {
    ...row,
    ...rate('fill_rate', row.filled, row.requests),
    ...rate('view_through_rate', row.impressions, row.filled),
    ...rate('completion_rate', row.completes, row.starts),
  };
}
