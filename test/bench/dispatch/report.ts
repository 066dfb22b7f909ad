import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import { format as prettify, resolveConfig } from 'prettier';
import { format, table } from '../outbox/report/markdown.ts';
import { drawRowChart } from '../outbox/report/row-chart.ts';
import type { Plan } from './command-line.ts';
import { contenders } from './contenders.ts';
import { redisSettings } from './redis.ts';
import { type Measurements, summarize, type Summary } from './results.ts';

const root = join(import.meta.dirname, '..', '..', '..');

interface Results {
  measurements: readonly Measurements[];
  plan: Plan;
  minutes: number;
  postgresVersion: string;
  redisVersion: string | undefined;
}

/** Writes the page, the charts and the JSON results, and prints the comparison. */
export async function writeReport(results: Results, isComplete: boolean): Promise<void> {
  const folder = join(root, isComplete ? 'docs/benchmarks/dispatch' : '.cache/bench-dispatch');
  const summaries = results.measurements.map(summarize);
  const runInfo = await describeRun(results);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writePretty(join(folder, 'README.md'), renderPage(runInfo, results, summaries));
  const json = { about: runInfo, plan: results.plan, summaries, rounds: groupRounds(results) };
  await writePretty(join(folder, 'results.json'), JSON.stringify(json, roundNumber));
  for (const [name, svg] of drawPlots(summaries)) await writeFile(join(folder, name), svg);
  console.log(`\n${relative(root, folder)}: README.md, results.json and charts\n`);
  console.log(compare(summaries).join('\n'));
}

const writePretty = async (file: string, content: string): Promise<void> =>
  writeFile(file, await prettify(content, { ...(await resolveConfig(file)), filepath: file }));

const roundNumber = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toFixed(1)) : value;

const groupRounds = ({ measurements }: Results) =>
  Object.fromEntries(measurements.map(({ contender, rounds }) => [contender.name, rounds]));

/** Describes the machine and the versions that were measured. */
async function describeRun({ measurements, minutes, postgresVersion, redisVersion }: Results) {
  const [cpu] = cpus();
  const readVersion = async (name: string): Promise<string> => {
    const file = join(import.meta.dirname, 'node_modules', name, 'package.json');
    const { version, license } = JSON.parse(await readFile(file, 'utf8')) as {
      version: string;
      license: string;
    };
    return `${name} ${version} (${license})`;
  };
  const versions: Record<string, string> = { ours: `this service, ${readOurVersion()}` };
  for (const { contender } of measurements)
    if (contender.package !== undefined)
      versions[contender.name] = await readVersion(contender.package);
  return {
    date: new Date().toISOString(),
    minutes,
    machine: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${(loadavg()[0] ?? 0).toFixed(1)} at the end`,
    system: `${type()} ${release()}, Node ${process.version}, ${postgresVersion}${redisVersion === undefined ? '' : `, ${redisVersion}`}`,
    versions,
  };
}

function readOurVersion(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const sources = ['--', 'service/src', 'src/server'];
    const suffix =
      git('status', '--porcelain', ...sources) === '' ? '' : ', with uncommitted changes';
    return git('log', '-1', '--format=%h of %cs', ...sources) + suffix;
  } catch {
    // This is not a Git checkout, or Git is not installed.
    return 'unknown version';
  }
}

/** Compares our service with each peer. Returns one line per metric. */
export function compare(summaries: readonly Summary[]): string[] {
  const ours = summaries.find(({ name }) => name === 'ours');
  if (ours?.perSecond === undefined) return [];
  return summaries.flatMap((peer) => {
    if (peer === ours || peer.perSecond === undefined) return [];
    const lines = [
      describe('deliveries per second', ours.perSecond, peer.perSecond, 'more', peer.name),
      describe('CPU time per delivery', ours.totalUs, peer.totalUs, 'less', peer.name),
    ];
    const [a, b] = [ours, peer].map(({ crashes }) => averageRepeats(crashes));
    if (a !== undefined && b !== undefined)
      lines.push(describe('deliveries repeated after a crash', a, b, 'less', peer.name));
    return lines;
  });
}

const averageRepeats = (crashes: Summary['crashes']): number | undefined =>
  crashes.length === 0
    ? undefined
    : crashes.reduce((sum, { tally }) => sum + tally.repeats, 0) / crashes.length;

function describe(
  metric: string,
  ours = NaN,
  peer = NaN,
  better: 'more' | 'less',
  name: string,
): string {
  const isAhead = better === 'more' ? ours > peer : ours < peer;
  return `- **${isAhead ? 'ahead of' : 'behind'} ${name}** in ${metric}: ${format(ours)} to ${format(peer)}, ${(ours / peer).toFixed(2)} ×.`;
}

function renderPage(
  runInfo: Awaited<ReturnType<typeof describeRun>>,
  { plan }: Results,
  summaries: readonly Summary[],
): string {
  const count = plan.count.toLocaleString('en');
  return `# Webhook delivery compared with job queues

Generated by \`npm run bench:dispatch\`; do not edit. Wall times depend on the machine and its load: compare them only within this page.

- ${runInfo.date.slice(0, 16).replace('T', ' ')} UTC, ${format(runInfo.minutes)} minutes
- ${runInfo.machine}; ${runInfo.system}
${Object.entries(runInfo.versions)
  .map(([name, version]) => `- \`${name}\`: ${version}`)
  .join('\n')}

A team that does not use this service would put its webhooks into a job queue. Each contender delivers ${count} webhooks to one receiver, a separate process that responds after 50 ms, verifies the signature and counts the webhooks. The time is measured from when the worker starts on the backlog until the last job is recorded as done. The contenders alternate; the figures are medians of ${plan.rounds} round${plan.rounds === 1 ? '' : 's'}, each on new databases after ${plan.warmUp.toLocaleString('en')} warm-up deliveries. The receiver, the worker and the databases share the machine.

${renderRatesTable(summaries)}

![Deliveries per second](rate.svg)

![CPU time per delivery](cost.svg)

“Total” adds up the worker, PostgreSQL and Redis. The PostgreSQL column includes all of its processes, with the share of the WAL writer, checkpointer and background writer in parentheses. “Enqueue” is the wall time, and the CPU time of all processes, to write one reward with its delivery, averaged over all ${count}. “Lost” and “duplicated” refer to the rounds above, which have no faults.

## Where we stand

${compare(summaries).join('\n')}

Reasons for the differences, and aspects that the figures do not show:

- Our service stores every attempt with its time, latency, status and the start of the response, and keeps the delivery, so that operators can look it up and redeliver it. graphile-worker and BullMQ delete completed jobs; pg-boss keeps them without the response.
- Our service signs each webhook twice, with its own scheme and with Standard Webhooks; the peers sign once.
- Our service adapts the number of concurrent requests to each endpoint, up to 200, and slows down for an overloaded endpoint without affecting the others. The peers send a fixed number of concurrent requests, regardless of the endpoint.
- pg-boss and graphile-worker write a job in the reward's transaction, as our service does. BullMQ cannot: the reward is in PostgreSQL and the job in Redis. If a process ends between the two writes, no webhook is sent for the reward; that is not measured here.

## A worker crash

The worker is killed (SIGKILL) when 40% of the webhooks have arrived, and restarted immediately. “In flight” is the number of requests that the receiver had not responded to by then. Each webhook is delivered at least once, so those that were sent but not recorded are sent again; receivers deduplicate them by \`webhook-id\`. “All done” is the time from the kill until nothing is pending; it depends on how long a dead worker's jobs stay claimed.

${renderCrashTable(summaries)}

${contenders
  .filter(({ name }) => summaries.some((summary) => summary.name === name))
  .map(({ name, recovery }) => `- \`${name}\`: ${recovery}.`)
  .join('\n')}

## Settings

- PostgreSQL: one server with default settings, and a database for each run. Redis: \`${redisSettings.map((argument) => (argument === '' ? "''" : argument)).join(' ')}\`, so that a write is on disk before it is acknowledged, as in PostgreSQL.
- Peer deliveries: undici with keep-alive connections, one per concurrent request; Standard Webhooks with \`node:crypto\`; a status other than 2xx fails the job, and the queue retries it.
- Backlog: pg-boss enqueues it with \`insert()\` on the transaction's connection, graphile-worker with \`add_jobs()\`, and BullMQ with \`addBulk()\` after the commit, 1,000 jobs at a time. Ours is written by the service’s own event writer, called in another process, because rewards that arrive over HTTP are delivered while others are still arriving, so there would be no backlog. Its transaction stays open until the start, so the time includes the commit. The dispatcher, which the service would wake after its own commit, is woken by a test event.
- Each peer ran with several settings, ${plan.tuning.toLocaleString('en')} deliveries each, and the fastest is published. Ours runs with its defaults.

${renderTuningTable(summaries)}
`;
}

const formatName = ({ name }: Summary): string => (name === 'ours' ? '**ours**' : name);

const renderRatesTable = (summaries: readonly Summary[]): string =>
  table(
    [
      '',
      'per second (slowest – fastest)',
      'worker CPU, µs',
      'PostgreSQL CPU, µs',
      'Redis CPU, µs',
      'total CPU, µs',
      'enqueue, wall / CPU µs',
      'lost',
      'duplicated',
    ],
    summaries.map((summary) =>
      summary.gap === undefined
        ? [
            formatName(summary),
            `${format(summary.perSecond)} (${format(summary.slowest)} – ${format(summary.fastest)})`,
            format(summary.workerUs),
            `${format(summary.postgresUs)} (${format(summary.postgresBackgroundUs)})`,
            format(summary.redisUs),
            format(summary.totalUs),
            `${format(summary.enqueueUs)} / ${format(summary.enqueueCpuUs)}`,
            format(summary.lost),
            format(summary.duplicated),
          ]
        : [formatName(summary), summary.gap, ...Array.from({ length: 7 }, () => '–')],
    ),
  );

const renderCrashTable = (summaries: readonly Summary[]): string =>
  table(
    [
      '',
      'arrived',
      'in flight',
      'restart, s',
      'all done, s',
      'lost',
      'failed permanently',
      'duplicated',
    ],
    summaries.flatMap((summary) =>
      summary.crashes.map(({ arrived, failed, open, recoveryMs, restartMs, tally }) => [
        formatName(summary),
        ...[arrived, open, restartMs / 1_000, recoveryMs / 1_000, tally.lost, failed].map((value) =>
          format(value),
        ),
        format(tally.duplicated),
      ]),
    ),
  );

const renderTuningTable = (summaries: readonly Summary[]): string =>
  table(
    ['setting', 'per second', 'published'],
    summaries.flatMap(({ name, setting, tuning }) =>
      tuning.map((entry) => [
        `${name}: ${entry.label}`,
        format(entry.perSecond),
        entry.label === setting ? 'yes' : '',
      ]),
    ),
  );

function drawPlots(summaries: readonly Summary[]): [string, string][] {
  const measuredSummaries = summaries.filter(({ perSecond }) => perSecond !== undefined);
  const rows = (values: (summary: Summary) => (number | undefined)[]) =>
    measuredSummaries.map((summary) => ({
      label: summary.name,
      emphasized: summary.name === 'ours',
      values: values(summary),
    }));
  const rate = drawRowChart({
    title: 'Webhooks delivered to one endpoint that responds after 50 ms',
    axis: 'deliveries per second',
    series: ['deliveries per second'],
    style: 'bars',
    format,
    rows: rows((summary) => [summary.perSecond]),
  });
  const cost = drawRowChart({
    title: 'CPU time per delivery',
    axis: 'µs',
    series: ['worker', 'PostgreSQL', 'Redis'],
    style: 'bars',
    format,
    rows: rows((summary) => [summary.workerUs, summary.postgresUs, summary.redisUs]),
  });
  return [
    ['rate.svg', rate],
    ['cost.svg', cost],
  ];
}
