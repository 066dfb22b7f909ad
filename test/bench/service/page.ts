import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { drawRowChart, type RowChart } from '../outbox/report/row-chart.ts';
import type { Cost } from './meter.ts';
import {
  type Comparison,
  type Costs,
  type Origin,
  type RateRow,
  type Rates,
  type Scale,
  summarize,
  type Unit,
  type Verdict,
} from './results.ts';

/** The published results. A run overwrites only the results that it measured; the rest keep their original dates. */
export interface Published {
  costs: Costs;
  comparison: Comparison;
  rates: Rates;
  scale: Scale;
}

const folder = join(import.meta.dirname, '../../../docs/benchmarks/service');
const fileNames = ['costs', 'comparison', 'rates', 'scale'] as const;

/** Writes the results, the page and the plots to docs/benchmarks/service. A quick run writes nothing. */
export async function publish(results: Partial<Published>, quick: boolean): Promise<void> {
  if (quick) return console.log('Quick runs are not published.');
  await mkdir(folder, { recursive: true });
  const write = async (name: string, text: string, parser: string): Promise<void> =>
    writeFile(join(folder, name), await format(text, { parser, printWidth: 100 }));
  for (const [name, value] of Object.entries(results))
    await write(`${name}.json`, JSON.stringify(value), 'json');
  const published = readPublished();
  await write('README.md', describe(published), 'markdown');
  for (const [name, chart] of Object.entries(draw(published)))
    await writeFile(join(folder, `${name}.svg`), drawRowChart(chart));
  console.log('Wrote docs/benchmarks/service');
}

export function readPublished(): Partial<Published> {
  const files = fileNames.filter((name) => existsSync(join(folder, `${name}.json`)));
  return Object.fromEntries(
    files.map((name) => [name, JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))]),
  ) as Partial<Published>;
}

export function printVerdicts(verdicts: readonly Verdict[]): void {
  for (const { budget, measured, held } of verdicts)
    console.log(`${held ? 'met' : 'NOT MET'}: ${budget}: ${measured}`);
}

const table = (head: readonly string[], rows: readonly (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const formatInteger = (value: number): string => Math.round(value).toLocaleString('en');
const formatTenths = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en');
const formatOrigin = ({ date, machine }: Origin): string => `${date}, ${machine}.`;

const units: Record<Unit, string> = {
  decisionAlone: 'a decision, 64 at a time',
  decision: 'a decision',
  start: 'the start',
  quartiles: 'three quartiles',
  finish: 'impression, completion and reward',
  delivery: 'the webhook delivery',
  ad: '**a whole ad with its webhook**',
};
const listEntries = (costs: Record<Unit, Cost>): [Unit, Cost][] =>
  Object.entries(costs) as [Unit, Cost][];

function describe({ costs, comparison, rates, scale }: Partial<Published>): string {
  const verdicts = [
    ...(comparison?.verdicts ?? []).map((verdict) => ({ ...verdict, ...comparison?.measured })),
    ...(costs ? [{ ...judgeGroupCommit(costs), ...costs.measured }] : []),
    ...Object.values(scale ?? {}).flatMap(({ verdicts: partVerdicts, measured }) =>
      partVerdicts.map((verdict) => ({ ...verdict, ...measured })),
    ),
  ];
  const parts = [
    `# What an ad costs the service

A **whole ad** consists of a decision, three requests with events, and a webhook. The requests report the start, then
three quartiles, then the impression and the completion, which earns a reward. The webhook reports this reward to the
game's server. Ratios compare this build with an older one. The builds alternate in one run; figures are medians of all rounds,
or means in the case of stored bytes, with the range in parentheses.
To plan capacity with these figures, see [Scale](../../scale.md).

${table(
  ['Budget', 'Measured', '', 'On'],
  verdicts.map(({ budget, measured, held, date }) => [
    budget,
    measured,
    held ? 'met' : '**not met**',
    date ?? '',
  ]),
)}`,
    comparison && describeComparison(comparison),
    costs && describeCosts(costs),
    rates && describeRates(rates),
    ...Object.entries(scale ?? {}).map(
      ([name, { title, note, head, rows, plot, measured }]) => `## ${title}

${note} \`npm run bench:scale -- --only ${name}\`, ${formatOrigin(measured)}
${plot ? `\n![${title}](scale-${name}.svg)\n` : ''}
${table(head, rows)}`,
    ),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

const describeComparison = ({ measured, older, rounds }: Comparison): string => {
  const [current, previous] = [summarize(rounds, 'this build'), summarize(rounds, 'older build')];
  return `## This build compared with an older one

\`npm run bench:costs -- --against <checkout>\`, ${rounds.length} rounds, older build ${older}, ${formatOrigin(measured)}
The service, PostgreSQL, the players and the receiver share the machine; only the first two are measured. Their work between
the steps, such as folding counts into roll-ups, is included only [at low rates](#at-low-rates). Stored bytes exclude the
table of counts that have not been folded yet, whose space is reused within seconds. Medians, older → this build:

![CPU per whole ad with its webhook](costs.svg)

${table(
  ['', 'service CPU, µs', 'PostgreSQL CPU, µs', 'stored, bytes', 'WAL, bytes'],
  listEntries(current).map(([unit, cost]) => [
    units[unit],
    ...(['serviceUs', 'databaseUs', 'storedBytes', 'loggedBytes'] as const).map(
      (counter) => `${formatInteger(previous[unit][counter])} → ${formatInteger(cost[counter])}`,
    ),
  ]),
)}`;
};

const describeCosts = ({
  measured,
  ads,
  rounds,
  costs,
  embedded,
  echoUs,
  groupCommit,
}: Costs): string => `## This build

\`npm run bench:costs\`, ${rounds} rounds of ${formatInteger(ads)} ads, 48 at a time, ${formatOrigin(measured)}
A bare \`node:http\` echo of a decision's request, called by the same client, takes ${echoUs} µs. Compared with an echo, a decision costs
${formatTenths(costs.decisionAlone.serviceUs / echoUs)} times and a whole ad ${formatInteger(costs.ad.serviceUs / echoUs)} times as much. On the embedded store, whose database runs in one of the service's threads, they cost ${formatTenths(embedded.decisionAlone.serviceUs / echoUs)} and ${formatInteger(embedded.ad.serviceUs / echoUs)} times as much. The byte counts for a
whole ad are from the live environment; the sandbox also stores why each decision was made.

${table(
  [
    '',
    'service CPU, µs',
    'PostgreSQL CPU, µs',
    'stored, bytes',
    'WAL, bytes',
    'embedded store CPU, µs',
  ],
  listEntries(costs).map(([unit, { serviceUs, databaseUs, storedBytes, loggedBytes }]) => [
    units[unit],
    ...[serviceUs, databaseUs, storedBytes, loggedBytes, embedded[unit].serviceUs].map(
      formatInteger,
    ),
  ]),
)}

Group commit, decisions stored per second without HTTP, at a concurrency of 64:

${table(
  ['', 'grouped', 'one transaction each', 'one insert each, without roll-ups'],
  Object.entries(groupCommit).map(([name, { together, each, eachWithoutSums }]) => [
    name === 'embedded' ? 'embedded store' : 'PostgreSQL, 8 connections',
    ...[together, each, eachWithoutSums].map(formatInteger),
  ]),
)}`;

function judgeGroupCommit({ groupCommit }: Costs): Verdict {
  const times = Object.values(groupCommit).map(
    ({ together, each, eachWithoutSums }) => together / Math.max(each, eachWithoutSums),
  );
  return {
    budget: 'group commit: at least 2 × one insert per request, on both stores',
    measured: `${times.map((value) => `${formatTenths(value)} ×`).join(' and ')}`,
    held: Math.min(...times) >= 2,
  };
}

const describeRates = ({ measured, older, rows }: Rates): string => `## At low rates

\`npm run bench:rates${older === undefined ? '' : ' -- --against <checkout>'}\`, ${older === undefined ? '' : `older build ${older}, `}${formatOrigin(measured)}
Whole ads start on schedule, however slow the responses are (an open loop). CPU per ad includes the work that the
service and PostgreSQL do in the background and between requests. If a rate is not reached, the CPU time is divided by the number of
ads whose webhook arrived. Decision latency is measured from the ad's scheduled start until the response.
Webhook latency is measured from sending the completion until the webhook arrives.

![Service and PostgreSQL CPU per ad, by rate](rates.svg)

${table(
  [
    'ads/s',
    '',
    'service CPU, µs',
    'PostgreSQL CPU, µs',
    'decision p50 / p99, ms',
    'webhook p50 / p99, ms',
  ],
  rows.map((row) => [
    formatInteger(row.rate),
    row.side + (row.reached ? '' : `: only ${formatInteger(row.perSecond)}/s reached`),
    formatInteger(row.serviceUs),
    formatInteger(row.databaseUs),
    row.decisionMs.map(formatTenths).join(' / '),
    row.webhookMs.map(formatTenths).join(' / '),
  ]),
)}`;

/** Returns the plots, keyed by file name. */
function draw({ comparison, rates, scale }: Partial<Published>): Record<string, RowChart> {
  const charts: Record<string, RowChart> = {};
  const style = { style: 'bars', format: formatInteger } as const;
  const series = ['service', 'PostgreSQL'];
  if (comparison) {
    const [current, previous] = [
      summarize(comparison.rounds, 'this build'),
      summarize(comparison.rounds, 'older build'),
    ];
    const row = (label: string, { serviceUs, databaseUs }: Cost, emphasized: boolean) => ({
      label,
      emphasized,
      values: [serviceUs, databaseUs],
    });
    charts['costs'] = {
      ...style,
      title: 'CPU per whole ad with its webhook',
      axis: 'µs',
      series,
      rows: [
        row('ad, older build', previous.ad, false),
        row('ad, this build', current.ad, true),
        row('delivery, older', previous.delivery, false),
        row('delivery, this', current.delivery, true),
      ],
    };
  }
  if (rates) {
    charts['rates'] = {
      ...style,
      title: 'CPU per ad, by rate',
      axis: 'µs',
      series,
      rows: rates.rows.map(({ rate, side, serviceUs, databaseUs }: RateRow) => ({
        label: `${formatInteger(rate)}/s, ${side === 'this build' ? 'this' : 'older'}`,
        emphasized: side === 'this build',
        values: [serviceUs, databaseUs],
      })),
    };
  }
  for (const [name, { title, plot }] of Object.entries(scale ?? {})) {
    if (!plot) continue;
    charts[`scale-${name}`] = {
      ...style,
      title,
      axis: plot.axis,
      series: [plot.axis],
      rows: plot.rows.map(({ label, value }) => ({
        label,
        emphasized: label === 'this build',
        values: [value],
      })),
    };
  }
  return charts;
}
