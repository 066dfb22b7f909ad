import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { median, percentile } from '../outbox/statistics.ts';
import type { Origin } from '../service/results.ts';
import type { AccountRow } from './dead-worker.ts';
import type { Side } from './side.ts';
import type { CpuUse, Window } from './whole-ads.ts';

/** One database's results at one concurrency level. */
export interface SideRow {
  name: string;
  processes: number;
  servers: number;
  atOnce: number;
  /** 50th and 99th percentiles over all rounds. */
  decisionMs: [number, number];
  adMs: [number, number];
  /** Medians over the rounds. */
  decisionUs: CpuUse;
  adUs: CpuUse;
}

/** The contents of docs/benchmarks/database/database.json. */
export interface DatabaseResults {
  measured: Origin;
  rounds: number;
  rows: SideRow[];
  deadWorker?: { name: string; rows: AccountRow[] };
}

export function summarize(side: Side, atOnce: number, windows: readonly Window[]): SideRow {
  const computePercentiles = (read: (window: Window) => number[]): [number, number] => {
    const values = windows.flatMap(read);
    return [percentile(values, 0.5) ?? NaN, percentile(values, 0.99) ?? NaN];
  };
  const computeMedianUse = (read: (window: Window) => CpuUse): CpuUse => ({
    service: median(windows.map((window) => read(window).service)) ?? NaN,
    database: median(windows.map((window) => read(window).database)) ?? NaN,
  });
  return {
    name: side.name,
    processes: side.urls.length,
    servers: side.servers.length,
    atOnce,
    decisionMs: computePercentiles(({ decisionMs }) => decisionMs),
    adMs: computePercentiles(({ adMs }) => adMs),
    decisionUs: computeMedianUse(({ decisionUs }) => decisionUs),
    adUs: computeMedianUse(({ adUs }) => adUs),
  };
}

const docs = join(import.meta.dirname, '../../../docs');
const [begin, end] = ['<!-- databases -->', '<!-- /databases -->'];

/** Prints the tables. Unless the run was quick, also writes them to docs/scale.md and docs/benchmarks/database. */
export async function publish(results: DatabaseResults, quick: boolean): Promise<void> {
  const text = describe(results);
  console.log(text);
  if (quick) return console.log('Quick runs are not published.');
  const folder = join(docs, 'benchmarks/database');
  await mkdir(folder, { recursive: true });
  const json = await format(JSON.stringify(results), { parser: 'json', printWidth: 100 });
  await writeFile(join(folder, 'database.json'), json);
  const page = join(docs, 'scale.md');
  const oldText = await readFile(page, 'utf8');
  const [start, finish] = [oldText.indexOf(begin), oldText.indexOf(end)];
  if (start < 0 || finish < start) throw new Error(`${page} has no ${begin} or ${end}.`);
  const newText = `${oldText.slice(0, start)}${begin}\n\n${text}\n\n${oldText.slice(finish)}`;
  await writeFile(page, await format(newText, { parser: 'markdown', printWidth: 100 }));
  console.log('Wrote docs/scale.md and docs/benchmarks/database');
}

const table = (head: readonly string[], rows: readonly (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const formatInteger = (value: number): string => Math.round(value).toLocaleString('en');
const formatPair = (values: readonly [number, number]): string =>
  values.map((value) => value.toFixed(1)).join(' / ');
const formatCpu = ({ service, database }: CpuUse): string =>
  `${formatInteger(service)} + ${formatInteger(database)}`;

const describe = ({ measured, rounds, rows, deadWorker }: DatabaseResults): string =>
  [
    `Measured ${measured.date} on ${measured.machine} (\`npm run bench:database\`, ${rounds} alternating rounds).`,
    table(
      [
        'database',
        'concurrency',
        'processes',
        'servers',
        'decision p50 / p99, ms',
        'whole ad p50 / p99, ms',
        'CPU per decision: service + database, µs',
        'CPU per ad: service + database, µs',
      ],
      rows.map((row) => [
        row.name,
        row.atOnce,
        row.processes,
        row.servers,
        formatPair(row.decisionMs),
        formatPair(row.adMs),
        formatCpu(row.decisionUs),
        formatCpu(row.adUs),
      ]),
    ),
    describeRatios(rows),
    deadWorker && describeDeadWorker(deadWorker),
  ]
    .filter(Boolean)
    .join('\n\n');

/**
 * Compares each database's server CPU per whole ad with the first database's, and states how many servers it takes to
 * outperform the first database.
 */
const describeRatios = (rows: readonly SideRow[]): string => {
  const [first, ...otherRows] = rows.filter(({ atOnce }) => atOnce > 1);
  if (!first) return '';
  return otherRows
    .map((row) => {
      const ratio = row.adUs.database / first.adUs.database;
      return `- **${row.name}** needs ${ratio.toFixed(1)} times as much server CPU per ad as ${first.name}, so it takes ${Math.floor(ratio) + 1} servers of the same size to handle more ads than a single ${first.name} server.`;
    })
    .join('\n');
};

const describeDeadWorker = ({ name, rows }: { name: string; rows: AccountRow[] }): string =>
  `Two accounts on ${name}, served by one process, after a worker was killed (SIGKILL). “Acknowledged” includes decisions
from before and after the kill. “Stored” is how many of them were in the database after the worker's restart.

${table(
  ['account', 'requests', 'succeeded', 'p50 / p99, ms', 'acknowledged', 'stored'],
  rows.map((row) => [
    row.account,
    formatInteger(row.requests),
    formatInteger(row.succeeded),
    formatPair(row.ms),
    formatInteger(row.acknowledged),
    formatInteger(row.stored),
  ]),
)}`;
