import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { drawRowChart } from '../outbox/report/row-chart.ts';
import { median } from '../outbox/statistics.ts';
import { type DemandResults, latencyRates, type Percentiles } from './results.ts';

const folder = join(import.meta.dirname, '../../../docs/benchmarks/demand');

/** Writes the JSON results, the page and its plot to docs/benchmarks/demand. A quick run writes nothing. */
export async function publish(results: DemandResults, quick: boolean): Promise<void> {
  if (quick) return console.log('Quick runs are not published.');
  await mkdir(folder, { recursive: true });
  const write = async (name: string, text: string, parser: string): Promise<void> =>
    writeFile(join(folder, name), await format(text, { parser, printWidth: 100 }));
  await write('demand.json', JSON.stringify(results), 'json');
  await write('README.md', describe(results), 'markdown');
  await writeFile(join(folder, 'latency.svg'), drawLatencies(results));
  console.log('Wrote docs/benchmarks/demand');
}

const table = (head: readonly string[], rows: readonly (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const formatInteger = (value: number): string => Math.round(value).toLocaleString('en');
const formatTenths = (value: number): string => value.toFixed(1);
const percentiles = (of: Percentiles | undefined): string =>
  of === undefined ? '–' : of.map(formatTenths).join(' / ');

const describe = (results: DemandResults): string => `# What external sources cost a decision

\`npm run bench:demand\`, ${results.measured.date}, ${results.measured.machine}.
The built service on PostgreSQL requests ads from real VAST and OpenRTB servers on the same machine, in the sandbox, where
a decision also stores its explanation. Decisions with and without sources alternate in one run.

${table(
  ['Requirement', 'Measured', ''],
  results.verdicts.map(({ budget, measured, held }) => [
    budget,
    measured,
    held ? 'met' : '**not met**',
  ]),
)}

## Latency

Players request ${latencyRates.join(' and then ')} decisions per second, at random times. The table shows 50th / 99th percentiles in milliseconds.
The slowest source measures its own time, from the end of the request to the response. The added time is the rest: both
network connections, the auction, and the transaction that stores the decision.

![Latency of a decision, and of its slowest source](latency.svg)

${table(
  ['placement', 'per second', 'decisions', 'decision', 'slowest source', 'added'],
  results.latencies.map(({ placement, rate, count, decisionMs, sourceMs, addedMs }) => [
    placement,
    rate,
    formatInteger(count),
    percentiles(decisionMs),
    percentiles(sourceMs),
    percentiles(addedMs),
  ]),
)}

At ${latencyRates[1]} decisions per second, the machine is mostly idle. Every step then starts with cold caches on a processor that has
to wake up, so it takes longer, with and without sources. Compare with the house ads, which need one network connection and
one commit. A decision with a source needs one more connection. The next table shows what a single connection adds when the
players send their requests straight to a source:

${table(
  ['without the service', 'per second', 'requests', 'added'],
  results.direct.map(({ delayMs, rate, count, addedMs }) => [
    delayMs === 0 ? 'a source, no delay' : `a source, ${delayMs} ms`,
    rate,
    formatInteger(count),
    percentiles(addedMs),
  ]),
)}

If three sources hang, the house ad is shown after the budget of ${formatInteger(results.hanging.budgetMs)} ms:
${percentiles(results.hanging.decisionMs)} ms in ${formatInteger(results.hanging.count)} decisions, one every 20 ms. Once the circuit breakers have opened,
the same decisions take ${percentiles(results.hanging.openMs)} ms.

## CPU

The service's CPU time per decision at a concurrency of 16, including all requests, notices and writes. The figures are medians of ${results.costs[0]?.serviceUs.length ?? 0} windows:

${table(
  ['placement', 'CPU, µs', 'range'],
  results.costs.map(({ placement, serviceUs }) => [
    placement,
    formatInteger(median(serviceUs) ?? NaN),
    `${formatInteger(Math.min(...serviceUs))}–${formatInteger(Math.max(...serviceUs))}`,
  ]),
)}

## Memory

The service has ${formatInteger(results.memory.startMb)} MB resident after warm-up and ${formatInteger(results.memory.endMb)} MB at the end of the run, after ${formatInteger(results.memory.decisions)} measured
latencies. When ${formatInteger(results.memory.waiting)} concurrent decisions each wait for three sources, each decision adds ${formatInteger(results.memory.kbPerWaiting)} kB.

## Adversarial documents

The longest turn of the event loop while the service requests an offer from a source, which responds with up to 256 kB of
the content below. The figures are medians of all runs:

${table(
  ['', 'full of', 'bytes', 'ms', 'verdict'],
  results.stalls.map(({ kind, content, bytes, ms, verdict }) => [
    kind,
    content,
    formatInteger(bytes),
    formatTenths(ms),
    verdict.replaceAll('|', '\\|').replaceAll('<', '&lt;'),
  ]),
)}
`;

const drawLatencies = ({ latencies }: DemandResults): string =>
  drawRowChart({
    title: 'Latency of a decision, and of its slowest source',
    axis: `ms, 50th percentile, ${latencyRates[0]} decisions per second`,
    series: ['slowest source', 'decision'],
    style: 'bars',
    format: formatTenths,
    rows: latencies
      .filter(({ rate }) => rate === latencyRates[0])
      .map(({ placement, decisionMs, sourceMs }) => ({
        label: placement.replace('three sources, 20, 40 and 60 ms', '20, 40 and 60 ms'),
        emphasized: sourceMs !== undefined,
        values: [sourceMs?.[0] ?? 0, decisionMs[0]],
      })),
  });
