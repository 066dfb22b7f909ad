import type { Browser, CDPSession, Page } from 'playwright';
import type { Contender } from './page/contenders.ts';
import type {} from './page/bench.ts';

/** The cost of an idle frame. */
export interface Idle {
  calls: number;
  bytes: number;
  timers: number;
  /** Microseconds per step, in the fastest block without the contender and in the fastest block with it. */
  without: number;
  with: number;
}

/** The tasks on the page's main thread during one measurement. */
export interface Tasks {
  count: number;
  /**
   * All tasks with more than 8 ms of CPU time. Each entry has the task's total time and the part of it that was spent on
   * garbage collection.
   */
  over8: { ms: number; collectingMs: number }[];
  longestMs: number;
  longestWallMs: number;
}

const steps = 1000;
/** Names of the other contenders' functions. The SDK's functions are recognized by the file that they are in. */
const namedFunctions = new Set(['deliverWaiting', 'watchScenes', 'nameOf']);

type Frame = { url: string; functionName: string };
const isMeasured = ({ functionName, url }: Frame): boolean =>
  url.endsWith('/sdk.js') ||
  url.endsWith('/peer.js') ||
  (url.endsWith('/bench.js') && namedFunctions.has(functionName));

/** Opens a page with one version of Phaser. */
export async function openPage(browser: Browser, url: string, version: string): Promise<Page> {
  const page = await browser.newPage();
  // The peer's plugin loads its ad platform's script. This script is replaced by a stub that accepts every call.
  await page.route(/^https:/, (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      headers: { 'cross-origin-resource-policy': 'cross-origin' },
      body: 'window.PokiSDK = new Proxy({}, { get: () => () => Promise.resolve() });',
    }),
  );
  await page.goto(`${url}/${version}.html`);
  return page;
}

/**
 * Measures what the contender does in idle frames. The counts are exact, because the benchmark steps a thousand frames
 * manually.
 */
export async function measureIdle(page: Page, contender: Contender): Promise<Idle> {
  await page.evaluate((name) => window.bench.prepare(name), contender);
  const session = await page.context().newCDPSession(page);
  const calls = await countCalls(session, page);
  const timers = Object.values(await page.evaluate(() => window.bench.timers()));
  const bytes = await countBytes(session, page);
  await page.reload();
  const blocks = await page.evaluate((name) => window.bench.compare(name, 20, 100), contender);
  return {
    calls: calls / steps,
    bytes: bytes / steps,
    timers: timers.reduce((sum, count) => sum + count, 0) / steps,
    without: Math.min(...blocks.without),
    with: Math.min(...blocks.with),
  };
}

async function countCalls(session: CDPSession, page: Page): Promise<number> {
  await session.send('Profiler.enable');
  await session.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // This first read discards the calls that were counted while the page loaded.
  await session.send('Profiler.takePreciseCoverage');
  await page.evaluate((count) => window.bench.step(count), steps);
  const { result } = await session.send('Profiler.takePreciseCoverage');
  await session.send('Profiler.stopPreciseCoverage');
  return result
    .flatMap(({ functions, url }) =>
      functions.map(({ functionName, ranges }) => ({ functionName, url, ranges })),
    )
    .filter(isMeasured)
    .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}

async function countBytes(session: CDPSession, page: Page): Promise<number> {
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.startSampling', {
    samplingInterval: 64,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await page.evaluate((count) => window.bench.step(count), steps);
  const { profile } = await session.send('HeapProfiler.stopSampling');
  type Node = typeof profile.head;
  // Includes allocations by functions that the measured functions call.
  const sum = (node: Node, isCallerMeasured: boolean): number => {
    const isIncluded = isCallerMeasured || isMeasured(node.callFrame);
    return node.children.reduce(
      (total, child) => total + sum(child, isIncluded),
      isIncluded ? node.selfSize : 0,
    );
  };
  return sum(profile.head, false);
}

/** Records the tasks on the page's main thread while `work` runs. */
export async function traceTasks<T>(
  browser: Browser,
  page: Page,
  work: () => Promise<T>,
): Promise<{ tasks: Tasks; result: T }> {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  const result = await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  return { tasks: summarize(trace.traceEvents), result };
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

function summarize(events: TraceEvent[]): Tasks {
  const isMain = ({ args, name }: TraceEvent): boolean =>
    name === 'thread_name' && args?.name === 'CrRendererMain';
  const threads = new Set(events.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const pageEvents = events.filter(
    ({ ph, pid, tid }) => ph === 'X' && threads.has(`${pid} ${tid}`),
  );
  const tasks = pageEvents.filter(({ name }) => name.endsWith('RunTask'));
  const collections = pageEvents.filter(({ name }) => name === 'MajorGC' || name === 'MinorGC');
  return {
    count: tasks.length,
    over8: tasks
      .filter((task) => cpuMs(task) > 8)
      .map((task) => ({
        ms: cpuMs(task),
        collectingMs: collections
          .filter(({ pid, tid, ts }) => pid === task.pid && tid === task.tid && isWithin(ts, task))
          .reduce((sum, collection) => sum + cpuMs(collection), 0),
      })),
    longestMs: Math.max(0, ...tasks.map(cpuMs)),
    longestWallMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1000)),
  };
}

/** Returns the CPU time or the wall time, whichever is lower. They come from different clocks. */
const cpuMs = ({ dur = 0, tdur = dur }: TraceEvent): number => Math.min(dur, tdur) / 1000;
const isWithin = (at: number, { dur = 0, ts }: TraceEvent): boolean => at >= ts && at < ts + dur;
