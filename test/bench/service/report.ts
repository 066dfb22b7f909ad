import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { format } from 'prettier';
import { median, ratio } from '../outbox/statistics.ts';
import type { Measured, Name } from './contestants.ts';
import type { GroupCommit } from './group-commit.ts';

export interface Results {
  rounds: Partial<Record<Name, Measured>>[];
  groupCommit: Partial<Record<keyof typeof budgets, GroupCommit>>;
}

const folder = join(import.meta.dirname, '../../../docs/benchmarks/service');
const names: Record<Name, string> = {
  echo: 'bare echo',
  durableEcho: 'echo that stores its body on PostgreSQL',
  postgresql: 'decision on PostgreSQL',
  embedded: 'decision on the embedded store',
};
/** Most processor time of a stored decision, in echoes. */
const budgets = { postgresql: 2, embedded: 3.5 };
const groupCommitBudget = 2;

/** What the threads of the service were doing, in percent. */
const split: readonly [string, number][] = [
  ['kernel: sockets, mostly', 16],
  ['texts: joining, hashing, encoding, copies', 15],
  ['JavaScript of the service', 14],
  ['V8, called by the rest', 9],
  ['other built-in functions', 9],
  ['garbage collection', 5],
  ['JavaScript of Node: streams', 5],
  ['look-ups of properties', 5],
  ['promises', 4],
  ['allocation outside of the heap', 4],
  ['streams, in C++', 2],
  ['compiler', 2],
  ['other C++ of Node', 2],
  ['SHA-256', 2],
  ['JavaScript of packages', 1],
  ['JSON', 1],
  ['regular expressions', 1],
  ['the rest', 3],
];

const number = (value: number | undefined, digits = 0): string =>
  value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Writes the tables and all figures. */
export async function writeReport(
  results: Results,
  plan: { rounds: number; seconds: number },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = async (file: string, text: string, parser: string): Promise<void> =>
    writeFile(join(folder, file), await format(text, { parser, printWidth: 100 }));
  await write('results.json', JSON.stringify(results), 'json');
  await write('README.md', describe(results, plan), 'markdown');
}

function describe(results: Results, { rounds, seconds }: { rounds: number; seconds: number }) {
  const [cpu] = cpus();
  const machine = `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${number(loadavg()[0], 1)}, Node ${process.versions.node}`;
  return `# What a stored decision costs

\`npm run bench:service\` measures this again. ${new Date().toISOString().slice(0, 10)}, ${machine}.

${table(['Budget', 'Measured', ''], verdicts(results))}

Ratios are taken within one round, in which the contestants follow each other at once, and the
median of ${rounds} rounds counts: what else the machine does is in both halves of a ratio.

## Processor time

A request for a rewarded ad, from another player each time, ${seconds} seconds, 64 at a time, with
the service as it is delivered (\`node service/dist/main.js start\`), its rate limits off. The echo is a
\`node:http\` server that takes the same body in and sends it back. An answer comes after its row is
on the disk. Everything shares one machine: load, service and database.

${table(
  [
    '',
    'µs per request, median',
    'least',
    'of PostgreSQL itself',
    'requests/s, best',
    'p50, ms',
    'p99, ms',
  ],
  (Object.keys(names) as Name[]).flatMap((name) => {
    const all = results.rounds.flatMap((round) => round[name] ?? []);
    const of = (field: keyof Measured) => all.flatMap((one) => one[field] ?? []);
    return all.length === 0
      ? []
      : [
          [
            names[name],
            number(median(of('cpuUs'))),
            number(Math.min(...of('cpuUs'))),
            number(median(of('databaseCpuUs'))),
            number(Math.max(...of('perSecond'))),
            number(median(of('p50Ms')), 1),
            number(median(of('p99Ms')), 1),
          ],
        ];
  }),
)}

The embedded store works in a thread of the same process, so that its time is counted. That of a
PostgreSQL server is not part of the budget, and shown beside it.

## Where it goes

\`perf\` over all threads of the service with PostgreSQL, 2026-11-22; this run does not measure it again.

${table(
  ['', 'share'],
  split.map(([what, percent]) => [what, `${percent} %`]),
)}

- The least that a durable answer takes is the echo that stores its body: it neither checks nor decides
  nor signs anything, and its row has two columns and one index where a decision has 24 and two.
- A request handed to the service without HTTP, and with a database that answers at once, took 15 to 17 µs:
  the head, key, body, decision, token, pseudonym, row and answer. None of these takes more than a sixth.
- The rows of 27 decisions take 29 µs to encode. On the embedded store their transaction takes 540 µs when all
  is in the caches, and up to 1,300 after a pause of 3 ms.

What made a decision cheaper, measured with the code before it in turns, as a share of the processor time
of a decision that was left (that of the answers reckoned from 0.84 with the heap, that of the wait from two
runs, 0.84 and 0.92):

${table(
  ['', 'PostgreSQL', 'embedded'],
  [
    [
      'plain requests are read off their sockets without `node:http`, and fewer texts twice',
      '0.71',
      '',
    ],
    ['all sockets read into one buffer', '0.92', ''],
    ['the heap may be three times what lives long before all of it is marked', '0.92', ''],
    ['answers in ASCII; no promise where there is nothing to wait for', '0.91', ''],
    ['one message for a prepared statement, described once', '0.95', ''],
    ['what decisions have in common is encoded once', '0.97', ''],
    ['two promises less for an answer', '0.94', ''],
    ['decisions that come in numbers wait 3 ms for each other', '–', '0.77'],
  ],
)}

Tried without a gain that could be told from noise: larger batches by a wait of 1, 2 and 4 ms on
PostgreSQL, to end the wait on the embedded store as soon as as many as last time are there, a young
generation of 32 or 64 MiB, a binary COPY, statements in a pipeline.

## Group commit

Decisions stored per second, 64 waiting at a time, without HTTP; the best of two turns of ${seconds} seconds.

${table(
  ['', 'together', 'each on its own', 'each, without the sums of reports'],
  Object.entries(results.groupCommit).map(([name, { together, each, eachWithoutSums }]) => [
    name === 'embedded' ? 'embedded store' : 'PostgreSQL, 8 connections',
    number(together),
    number(each),
    number(eachWithoutSums),
  ]),
)}
`;
}

function verdicts({ rounds, groupCommit }: Results): string[][] {
  const rows: string[][] = [];
  for (const name of ['postgresql', 'embedded'] as const) {
    const ratios = rounds.flatMap((round) => ratio(round[name]?.cpuUs, round.echo?.cpuUs) ?? []);
    const middle = median(ratios);
    if (middle === undefined) continue;
    const budget = budgets[name];
    rows.push([
      `a ${names[name]}: at most ${budget} × the processor time of the echo`,
      `${number(middle, 2)} × (${ratios.map((one) => number(one, 2)).join(', ')})`,
      middle <= budget ? 'held' : '**not held**',
    ]);
  }
  for (const [name, { together, each, eachWithoutSums }] of Object.entries(groupCommit)) {
    const times = together / Math.max(each, eachWithoutSums);
    rows.push([
      `group commit, ${name}: at least ${groupCommitBudget} × one insert per request`,
      `${number(together / each, 1)} × (${number(together / eachWithoutSums, 1)} × an insert without sums)`,
      times >= groupCommitBudget ? 'held' : '**not held**',
    ]);
  }
  return rows;
}
