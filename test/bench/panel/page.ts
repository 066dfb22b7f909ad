import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { defaultQuotas } from '../../../service/src/platform/quota-limits.ts';
import { type Row, table } from '../history/judge.ts';
import type { Origin } from '../service/results.ts';
import { type Counts, countOf } from './fill.ts';
import type { RequestTimes } from './pages.ts';

const folder = join(import.meta.dirname, '../../../docs/benchmarks/panel');
/** How long a request may take, in milliseconds. */
const budgetMs = 200;

/** What was measured with one database and one number of objects. */
export interface Measurement extends Counts {
  store: 'PostgreSQL' | 'embedded';
  measured: Origin;
  requests: RequestTimes[];
}

export function printMeasurement(measurement: Measurement): void {
  console.log(`\n${formatTitle(measurement)}`);
  console.table(toRows(measurement.requests));
  console.table(judge([measurement]));
}

/** Writes results to docs/benchmarks/panel. */
export async function publish(measurements: readonly Measurement[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const text = await format(describe(measurements), { parser: 'markdown', printWidth: 100 });
  await writeFile(join(folder, 'README.md'), text);
  console.log('Wrote docs/benchmarks/panel');
}

const formatTitle = ({ store, each, isWithinQuotas }: Measurement): string =>
  `${store}, ${isWithinQuotas ? `${each.toLocaleString('en')} objects or 90% of the default quota` : `${each.toLocaleString('en')} objects of each kind`}`;

const toRows = (requests: readonly RequestTimes[]): Row[] =>
  requests.map(({ page, path, medianMs, slowestMs, kilobytes }) => ({
    page,
    request: `\`${path.length > 90 ? `${path.slice(0, 90)}…` : path}\``,
    'median, ms': medianMs.toFixed(0),
    'slowest, ms': slowestMs.toFixed(0),
    KB: kilobytes.toFixed(0),
  }));

function judge(measurements: readonly Measurement[]): Row[] {
  return measurements.map((measurement) => {
    const [slowest] = measurement.requests;
    return {
      with: formatTitle(measurement),
      goal: `every request within ${budgetMs} ms (median)`,
      measured: `${(slowest?.medianMs ?? NaN).toFixed(0)} ms (${slowest?.page})`,
      '': (slowest?.medianMs ?? NaN) <= budgetMs ? 'met' : '**not met**',
    };
  });
}

function listLimits(counts: Counts): string {
  const kinds = Object.entries(defaultQuotas).filter(
    ([kind, limit]) => limit < counts.each && !/_kb|_mb|token/.test(kind),
  );
  return kinds
    .map(([kind]) => {
      const count = countOf(counts, kind as keyof typeof defaultQuotas);
      return `${count.toLocaleString('en')} ${kind.replaceAll('_', ' ')}`;
    })
    .join(', ');
}

const describe = (measurements: readonly Measurement[]): string => `# What the panel’s pages cost

\`npm run bench:panel\` fills an environment with many objects of each kind, and a week of figures for each of them. It opens the
panel’s pages in Chromium to learn what they request, and then sends each request again and again, one at a time.

No quota limits decisions, audit entries, deliveries and wallet entries, of which there are always ${(measurements[0]?.each ?? 0).toLocaleString('en')}. The default
[limits](../../operate.md#what-an-account-stores) are lower for everything else: ${listLimits({ each: measurements[0]?.each ?? 0, isWithinQuotas: true })}.
The second table is that of a service whose operator has raised them.

${table(judge(measurements))}

${measurements
  .map(
    (measurement) => `## ${formatTitle(measurement)}

${measurement.measured.date}, ${measurement.measured.machine}. The ${Math.min(25, measurement.requests.length)} slowest of ${measurement.requests.length} requests, each with the first page that sends it:

${table(toRows(measurement.requests.slice(0, 25)))}`,
  )
  .join('\n\n')}
`;
