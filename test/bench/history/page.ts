import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import type { Origin } from '../service/results.ts';
import { judge, table, toPageRows, toPeriodRows } from './judge.ts';
import type { Load, Measurement } from './measure.ts';

const folder = join(import.meta.dirname, '../../../docs/benchmarks/history');

/** A measurement with the conditions under which it was made. */
export type Published = Measurement & { measured: Origin; load: Load };

export function printMeasurement(measurement: Measurement, load: Load): void {
  console.log(`\n${formatTitle(measurement)}`);
  console.table(toPageRows([measurement]));
  console.table(toPeriodRows(measurement, load));
  console.table(judge([measurement]));
}

/** Adds results to docs/benchmarks/history, in place of earlier ones of the same size. */
export async function publish(results: readonly Published[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'history.json');
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Published[]) : [];
  const isSame = (a: Measurement, b: Measurement): boolean =>
    a.store === b.store && a.stored === b.stored;
  const all = [...earlier.filter((old) => !results.some((one) => isSame(one, old))), ...results];
  all.sort((a, b) => b.store.localeCompare(a.store) || a.stored - b.stored);
  const write = async (name: string, text: string, parser: string): Promise<void> =>
    writeFile(join(folder, name), await format(text, { parser, printWidth: 100 }));
  await write('history.json', JSON.stringify(all), 'json');
  await write('README.md', describe(all), 'markdown');
  console.log('Wrote docs/benchmarks/history');
}

const formatTitle = ({ store, stored, gib }: Measurement): string =>
  `${store}: ${stored.toLocaleString('en')} events and deliveries, ${(stored / 4).toLocaleString('en')} decisions, ${gib} GiB on disk`;

const describe = (results: readonly Published[]): string => `# What a history costs

\`npm run bench:history\` fills the service’s database with events, their finished deliveries and a quarter as many decisions,
spread over four weeks, and a quarter’s roll-ups. It then measures operators’ pages, and whether operators delay ads. Meanwhile:

- A panel is open on the overview, on a webhook’s deliveries and on the inspector, and reads as often as the panel does.
- One archive of all past weeks follows the other (with PostgreSQL only, because the embedded database can’t be archived while the service runs).
- One export of a player, who has one in 200 decisions and events, follows the other, and so do exports of a quarter’s report.
- One recovery of four weeks follows the other. It looks for missed events and finds none.
- A kill switch is turned on and off every second.

In the last row with PostgreSQL, twelve clients instead read deliveries again and again, while another session keeps their table locked.

With PostgreSQL, there are two processes of the service, one of which serves the ads; both must apply the kill switch.
Everything shares the machine’s cores: the services, PostgreSQL, the archive command, the players and the operators.

${table(judge(results))}

${results
  .map(
    (result) => `## ${formatTitle(result)}

${result.measured.date}, ${result.measured.machine}. ${result.load.perSecond} decisions are due per second, for ${result.load.seconds} seconds in each row; latencies are measured from the time at which they were due.

${table(toPeriodRows(result, result.load))}`,
  )
  .join('\n\n')}

## Pages

Each page was read twenty times, while nothing else was going on; median and slowest, in milliseconds.

${table(toPageRows(results))}
`;
