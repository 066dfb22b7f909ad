import { percentile } from '../outbox/statistics.ts';
import type { Load, Measurement, Period } from './measure.ts';

/** A table’s row: its cells by column. */
export type Row = Record<string, string | number>;

export const table = (rows: readonly Row[]): string => {
  const columns = Object.keys(rows[0] ?? {});
  return [
    columns,
    columns.map(() => '---'),
    ...rows.map((row) => columns.map((name) => row[name] ?? '')),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
};

/** JSON has no NaN: results of earlier runs contain null instead. */
const formatMs = (ms: number | null | undefined): string =>
  typeof ms !== 'number' || Number.isNaN(ms) ? '–' : ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
const formatRatio = (value: number): string => `${value.toFixed(2)} ×`;
const formatSize = ({ store, stored }: Measurement): string =>
  `${store}, ${stored.toLocaleString('en')}`;
const find = ({ periods }: Measurement, who: Period['who']): Period | undefined =>
  periods.find((period) => period.who === who);

export const toPageRows = (measurements: readonly Measurement[]): Row[] =>
  (measurements[0]?.pages ?? []).map(({ page }) => ({
    page,
    ...Object.fromEntries(
      measurements.map((measurement) => {
        const times = measurement.pages.find((other) => other.page === page);
        return [
          formatSize(measurement),
          times ? `${formatMs(times.medianMs)} / ${formatMs(times.slowestMs)}` : '',
        ];
      }),
    ),
  }));

export const toPeriodRows = (measurement: Measurement, { seconds }: Load): Row[] =>
  measurement.periods.map((period) => ({
    at: period.who,
    'decision p50 / p99, ms': `${formatMs(period.p50Ms)} / ${formatMs(period.p99Ms)}`,
    'CPU, ms per s: service + database': `${period.serviceMsPerS.toFixed(0)} + ${period.databaseMsPerS.toFixed(0)}`,
    'switch in force, slowest, ms': formatMs(maximum(period.work?.switchMs)),
    'pages p50 / slowest, ms': `${formatMs(percentile(period.work?.pageMs ?? [], 0.5))} / ${formatMs(maximum(period.work?.pageMs))}`,
    'operators’ work': period.work
      ? `${(period.work.recoveredEvents / seconds).toFixed(0)} events looked at and ${(period.work.exportedLines / seconds).toFixed(0)} lines exported per s, ${period.work.archives} archives`
      : '',
  }));

const maximum = (values: readonly number[] = []): number | undefined =>
  values.length === 0 ? undefined : Math.max(...values);

/** The CPU time of a decision, in µs: of all work, without the operators’. */
function decisionUs(measurement: Measurement, who: 'ads' | 'ads and operators'): number {
  const total = (period: Period | undefined): number =>
    (period?.serviceMsPerS ?? NaN) + (period?.databaseMsPerS ?? NaN);
  const operators = who === 'ads' ? 0 : total(find(measurement, 'operators'));
  const period = find(measurement, who);
  return ((total(period) - operators) * 1_000) / (period?.decisions ?? NaN);
}

/** The goals, and what was measured. */
export function judge(measurements: readonly Measurement[]): Row[] {
  const rows = measurements.flatMap(judgeOne);
  const onServer = measurements
    .filter(({ store }) => store === 'PostgreSQL')
    .toSorted((one, other) => one.stored - other.stored);
  const small = onServer.find(({ stored }) => stored >= 1_000_000);
  const large = onServer.at(-1);
  return small && large && small !== large ? [...rows, ...judgeGrowth(small, large)] : rows;
}

function judgeOne(measurement: Measurement): Row[] {
  const [quiet, busy] = [find(measurement, 'ads'), find(measurement, 'ads and operators')];
  const isReport = (page: string): boolean => page.includes('report');
  const slowest = (reports: boolean): number =>
    Math.max(
      ...measurement.pages
        .filter(({ page }) => isReport(page) === reports)
        .map(({ medianMs }) => medianMs),
    );
  const on = formatSize(measurement);
  const p99 = (busy?.p99Ms ?? NaN) / (quiet?.p99Ms ?? NaN);
  const stuck = find(measurement, 'ads and stuck lists');
  const stuckP99 = (stuck?.p99Ms ?? NaN) / (quiet?.p99Ms ?? NaN);
  const cpu = decisionUs(measurement, 'ads and operators') / decisionUs(measurement, 'ads');
  const switchMs = maximum(busy?.work?.switchMs) ?? NaN;
  const row = (goal: string, measured: string, isMet: boolean, doubt?: string): Row => ({
    on,
    goal,
    measured,
    '': doubt ?? (isMet ? 'met' : '**not met**'),
  });
  // The operators' work is subtracted, but they do less of it beside ads.
  const doubt = cpu < 0.9 ? 'can’t be told: the operators do less beside ads' : undefined;
  return [
    row('a decision’s p99 with operators ÷ without: 1.5 ×', formatRatio(p99), p99 <= 1.5),
    row(
      'a decision’s CPU time with operators ÷ without: 1.2 ×',
      formatRatio(cpu),
      cpu <= 1.2,
      doubt,
    ),
    ...(stuck
      ? [
          row(
            'a decision’s p99 with 12 lists stuck behind a lock ÷ without: 1.5 ×',
            formatRatio(stuckP99),
            stuckP99 <= 1.5,
          ),
        ]
      : []),
    row(
      'a kill switch is in force everywhere within 1 s',
      `${formatMs(switchMs)} ms`,
      switchMs <= 1_000,
    ),
    row(
      'every list within 100 ms (median)',
      `${formatMs(slowest(false))} ms`,
      slowest(false) <= 100,
    ),
    row(
      'a quarter’s report within 500 ms (median)',
      `${formatMs(slowest(true))} ms`,
      slowest(true) <= 500,
    ),
  ];
}

function judgeGrowth(small: Measurement, large: Measurement): Row[] {
  const on = `${formatSize(large)} ÷ ${small.stored.toLocaleString('en')}`;
  const cpu = decisionUs(large, 'ads') / decisionUs(small, 'ads');
  const pages = large.pages.map(({ page, medianMs }) => ({
    page,
    ratio: medianMs / (small.pages.find((other) => other.page === page)?.medianMs ?? NaN),
  }));
  const [worst] = pages.toSorted((a, b) => b.ratio - a.ratio);
  const row = (goal: string, value: number, which = ''): Row => ({
    on,
    goal,
    measured: `${formatRatio(value)}${which}`,
    '': value <= 1.1 ? 'met' : '**not met**',
  });
  return [
    row('a decision’s CPU time: 1.1 ×', cpu),
    row('a page’s time: 1.1 ×', worst?.ratio ?? NaN, ` (${worst?.page})`),
  ];
}
