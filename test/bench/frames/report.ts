import { writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { drawRowChart } from '../outbox/report/row-chart.ts';
import { percentile } from '../outbox/statistics.ts';
import type { Idle, Tasks } from './measure.ts';
import type { Contender } from './page/contenders.ts';

export interface Results {
  chromium: string;
  idle: { version: string; contender: Contender; figures: Idle }[];
  deltas: { version: string; first: number[]; ordinary: number[] }[];
  /** One entry per run. */
  drains: {
    events: number;
    rewards: number;
    ms: number;
    frames: number[];
    control: number[];
    tasks: Tasks;
  }[];
  alone: Tasks;
}

const folder = join(import.meta.dirname, '../../../docs/benchmarks/frames');

const names: Record<Contender, string> = {
  nothing: 'game alone',
  trueward: 'trueward, idle',
  truewardDelivering: 'trueward, one delivery per frame',
  alwaysAttached: 'listener always attached',
  sceneWatcher: 'scenes watched each step',
  peer: 'poki/phaser-plugin 0.0.5',
};

const formatNumber = (value: number | undefined, digits = 0): string =>
  value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** Returns whether the task exceeds 8 ms only because of garbage collection. */
const isCollection = ({ collectingMs, ms }: Tasks['over8'][number]): boolean =>
  ms - collectingMs <= 8;

const describeLongTasks = (runs: Tasks[]): string =>
  runs.every(({ over8 }) => over8.length === 0)
    ? `the longest ${formatNumber(Math.max(...runs.map(({ longestMs }) => longestMs)), 1)} ms`
    : runs
        .flatMap(({ over8 }) => over8)
        .map(
          (task) =>
            `${formatNumber(task.ms, 1)} ms (garbage: ${formatNumber(task.collectingMs, 1)} ms)`,
        )
        .join(', ');

/** Writes the page, the plots and the JSON results. */
export async function writeReport(results: Results): Promise<void> {
  await writeFile(join(folder, 'results.json'), `${JSON.stringify(results, null, 1)}\n`);
  await writeFile(join(folder, 'README.md'), describe(results));
  const idle = results.idle.filter(({ contender }) => contender !== 'nothing');
  const plot = (file: string, title: string, axis: string, of: (figures: Idle) => number) =>
    writeFile(
      join(folder, file),
      drawRowChart({
        title,
        axis,
        style: 'bars',
        format: (value) => String(Math.round(value * 10) / 10),
        series: [...new Set(idle.map(({ version }) => `Phaser ${version}`))],
        rows: [...new Set(idle.map(({ contender }) => contender))].map((contender) => ({
          label: shortNames[contender],
          emphasized: contender.startsWith('trueward'),
          values: idle
            .filter((entry) => entry.contender === contender)
            .map(({ figures }) => of(figures)),
        })),
      }),
    );
  await plot('calls.svg', 'Function calls in each frame', 'calls', ({ calls }) => calls);
  await plot('bytes.svg', 'Garbage created in each frame', 'bytes', ({ bytes }) => bytes);
}

const shortNames: Record<Contender, string> = {
  nothing: 'game alone',
  trueward: 'trueward, idle',
  truewardDelivering: '… delivering',
  alwaysAttached: 'always attached',
  sceneWatcher: 'scenes watched',
  peer: 'poki plugin',
};

/**
 * Returns each frame's lowest time over all runs. Every run does the same work, and other load on the machine can only
 * increase the time.
 */
const findLowestTimes = (runs: number[][]): number[] => {
  const length = Math.min(...runs.map((run) => run.length));
  return Array.from({ length }, (_, index) => Math.min(...runs.map((run) => run[index] ?? 0)));
};

function describe(results: Results): string {
  const { alone, deltas, drains } = results;
  const [drain] = drains;
  if (!drain) throw new Error('No drain was recorded.');
  const longTasks = drains.flatMap(({ tasks }) => tasks.over8);
  const longestWallMs = Math.max(...drains.map(({ tasks }) => tasks.longestWallMs));
  const twoFrames = 2000 / 60;
  const longestDelta = Math.max(...deltas.flatMap(({ first }) => first));
  const frames = findLowestTimes(drains.map((entry) => entry.frames));
  const control = findLowestTimes(drains.map((entry) => entry.control));
  const p99 = percentile(frames, 0.99) ?? 0;
  const singleRunP99s = drains
    .map((entry) => formatNumber(percentile(entry.frames, 0.99), 3))
    .join(' and ');
  const hasPeer = results.idle.some(({ contender }) => contender === 'peer');
  const idleRows = results.idle.filter(({ contender }) => contender === 'trueward');
  const isFree = idleRows.every(({ figures: f }) => f.calls + f.bytes + f.timers === 0);
  const formatVerdict = (isMet: boolean): string => (isMet ? 'met' : '**not met**');
  return `# What the SDK costs a game's frames

\`npm run bench:frames\` generates this page. ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? ''}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${formatNumber(loadavg()[0], 1)}, Chromium ${results.chromium}.

${table(
  ['Budget', 'Measured', ''],
  [
    [
      'idle frame: 0 calls, 0 bytes, 0 timers',
      idleRows
        .map(
          ({ figures: f, version }) =>
            `${version}: ${formatNumber(f.calls)}, ${formatNumber(f.bytes)}, ${formatNumber(f.timers)}`,
        )
        .join('; '),
      formatVerdict(isFree),
    ],
    [
      `no task over 8 ms of CPU time while ${drain.events.toLocaleString('en')} events drain and ${drain.rewards.toLocaleString('en')} rewards are delivered`,
      `${longTasks.length} of ${drains.reduce((sum, { tasks }) => sum + tasks.count, 0)}; ${describeLongTasks(drains.map(({ tasks }) => tasks))} (the game alone, for the same time: ${alone.over8.length} of ${alone.count}; ${describeLongTasks([alone])})`,
      longTasks.length > 0 && longTasks.every(isCollection)
        ? 'met, except for V8’s garbage collection'
        : formatVerdict(longTasks.length === 0),
    ],
    [
      'a frame with a delivery ≤ 0.2 ms at the 99th percentile',
      `median ${formatNumber(percentile(frames, 0.5), 3)} ms, 99th percentile ${formatNumber(p99, 3)} ms of ${frames.length} frames, the lower of two runs for each (single runs: ${singleRunP99s} ms; fixed work in the same frames, measured in the same way: median ${formatNumber(percentile(control, 0.5), 3)} ms, 99th percentile ${formatNumber(percentile(control, 0.99), 3)} ms)`,
      formatVerdict(p99 <= 0.2),
    ],
    [
      'first delta after an ad ≤ 2 frames (33.3 ms)',
      deltas
        .map(
          ({ first, ordinary, version }) =>
            `${version}: median ${formatNumber(percentile(first, 0.5), 1)} ms, longest ${formatNumber(Math.max(...first), 1)} ms of ${first.length} (any frame: ${formatNumber(Math.max(...ordinary), 1)} ms)`,
        )
        .join('; '),
      formatVerdict(longestDelta <= twoFrames),
    ],
  ],
)}

## An idle frame

${table(
  ['Phaser', 'In the game', 'calls', 'bytes', 'timers', 'added time, µs'],
  results.idle.map(({ contender, figures: f, version }) => [
    version,
    names[contender],
    formatNumber(f.calls, 1),
    formatNumber(f.bytes),
    formatNumber(f.timers),
    formatNumber(f.with - f.without, 2),
  ]),
)}

![Calls](calls.svg)

![Bytes](bytes.svg)

## How

- Calls are counted exactly, with \`Profiler.startPreciseCoverage\` over 1,000 frames, for functions in the SDK's file or the contender's. A contender's calls to Phaser's functions are not counted.
- Bytes come from the sampling heap profiler (interval 64 bytes, collected objects included): allocations by the SDK or the contender, and by code that it calls. Sampling is inexact, so figures vary by a few bytes.
- Timers are calls to \`setTimeout\`, \`setInterval\` and \`requestAnimationFrame\` in those frames.
- Microseconds are the fastest of 20 blocks of 100 frames with the contender minus the fastest of 20 without it. The blocks alternate in the same game, whose loop is stopped and stepped manually. “game alone” and “trueward, idle” run the same code in both kinds of blocks, so their figures show the machine's noise.
- Tasks are the main-thread tasks in a trace of the page. A task's duration is its CPU time or wall time, whichever is lower: on a shared machine, the wall time of a task (longest: ${formatNumber(longestWallMs)} ms, the game alone ${formatNumber(alone.longestWallMs)} ms) includes other processes, and the CPU clock has a coarse resolution. During the trace, the game draws 30 moving boxes.
- Draining reads a full IndexedDB outbox from an earlier visit and sends it to a server on this machine; the rewards go through the ledger, one claim and one receipt each, in ${formatNumber(drain.ms / 1000)} s. The time of a frame with a delivery is the wall time of the SDK's listener, including the game's handler.

${
  hasPeer
    ? 'poki/phaser-plugin is the only published ad plugin for Phaser 3 that runs here: its source from GitHub, with a stub in place of its ad platform. It is not on npm, so `npm run bench:frames` includes it only if `--peer` names a checkout of it. The others are our own:'
    : 'The other contenders are our own, because no published ad plugin for Phaser 3.60 or later is on npm (`--peer` takes a checkout of github.com/poki/phaser-plugin):'
} “scenes watched each step” follows the documentation of such a plugin; “always attached” is the minimum work of any polling plugin. Cocos Creator's engine cannot be installed from npm, so it is not included; its adapter also listens for frames only while something is pending.
`;
}
