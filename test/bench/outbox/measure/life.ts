import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchPage } from '../browser-page.ts';
import type { ContenderInfo } from '../contenders.ts';
import type { Deliveries, Tally } from '../deliveries.ts';
import type { ComparedResult } from '../page/bench.ts';
import type { FrameTimes } from '../page/frame-meter.ts';
import type { WakeUps } from '../page/wake-ups.ts';
import { nextRun, openContender, waitForArrivals, withBrowser, withProfile } from './setting.ts';
import type { Setting } from './setting.ts';

/** The cost of enqueuing an event at one queue length. */
export interface LengthResult extends ComparedResult {
  /** The intended queue length, and the number of events that were actually enqueued before the measurement. */
  length: number;
  made: number;
  /** Main-thread CPU time per event, in milliseconds. Includes work in later tasks. */
  cpuPerEvent: number;
}

export interface DrainResult extends Tally {
  made: number;
  /** Number of events in the browser's storage when the network came back. */
  stored: number;
  /** Time from the `flush()` call until the last event arrived, in milliseconds. */
  ms: number;
  frames: FrameTimes | undefined;
}

/** What is measured in one page: idling, enqueuing events offline, and draining the queue. */
export interface PageResult {
  idle: WakeUps & { requests: number; cpuMsPerSecond: number };
  lengths: LengthResult[];
  /** Times of frames with 8 ms of game work. In each frame, one event is added to the longest queue. */
  framesWhileEnqueuing: FrameTimes;
  burst: { cost: number; stored: number | undefined };
  drain: DrainResult | undefined;
}

/** Game work per frame, in milliseconds. This is about half of the 16.7 ms frame budget at 60 frames per second. */
const gameMs = 8;
const gameFrames = 120;
const warmUpEvents = 60;

/** Runs the measurements that involve no fault injection. */
export const measureFaultFree = (setting: Setting, contender: ContenderInfo): Promise<PageResult> =>
  withProfile((profile) =>
    withBrowser(profile, async (browser) => {
      const run = nextRun();
      const deliveries = setting.receiver.begin(run, contender.messageId);
      const page = await openContender(setting, browser, run, contender);
      const sends = contender.kind === 'ours' || contender.kind === 'peer';
      await warmUp(page, sends ? deliveries : undefined);
      const idle = await measureIdle(page, deliveries, setting.plan.idleMs);
      await page.setOffline(true);
      await sleep(300);
      const { lengths, made } = await measureLengths(page, setting.plan);
      const { frames } = await page.call('paced', [gameFrames, gameMs]);
      const burst = await page.call('burst', [100]);
      const total = made + gameFrames + 100;
      const drain = sends ? await measureDrain(setting, page, deliveries, total) : undefined;
      return { idle, lengths, framesWhileEnqueuing: frames, burst, drain };
    }),
  );

/** Enqueues and sends a few events to warm up the code. The queue is empty again afterwards. */
async function warmUp(page: BenchPage, deliveries: Deliveries | undefined): Promise<void> {
  await page.call('paced', [warmUpEvents, 0]);
  await page.call('flush', []);
  if (deliveries)
    await waitForArrivals(deliveries, { count: warmUpEvents, quietMs: 6_000, budgetMs: 8_000 });
  await sleep(1_000);
}

async function measureIdle(
  page: BenchPage,
  deliveries: Deliveries,
  ms: number,
): Promise<PageResult['idle']> {
  const requestsBefore = deliveries.tally().requests;
  const busyBefore = await page.busyMs();
  const wakeUps = await page.call('idle', [ms]);
  return {
    ...wakeUps,
    requests: deliveries.tally().requests - requestsBefore,
    cpuMsPerSecond: ((await page.busyMs()) - busyBefore) / (ms / 1_000),
  };
}

async function measureLengths(
  page: BenchPage,
  plan: Setting['plan'],
): Promise<{ lengths: LengthResult[]; made: number }> {
  const lengths: LengthResult[] = [];
  let made = 0;
  let budgetMs = plan.fillBudgetMs;
  for (const length of plan.lengths) {
    const startedAt = performance.now();
    if (length > made) made += await page.call('fill', [length - made, budgetMs]);
    budgetMs = Math.max(0, budgetMs - (performance.now() - startedAt));
    await sleep(500);
    // Takes fewer samples at length 0, because each sample adds an event and the queue must not outgrow the next length.
    const samples = length === 0 ? Math.min(plan.samples, 100) : plan.samples;
    const cost = await measureCost(page, samples);
    lengths.push({ length, made, ...cost });
    made += samples;
  }
  return { lengths, made };
}

async function measureCost(
  page: BenchPage,
  samples: number,
): Promise<ComparedResult & { cpuPerEvent: number }> {
  const busyBefore = await page.busyMs();
  await page.call('yardstickAlone', [samples]);
  const busyBetween = await page.busyMs();
  const result = await page.call('compared', [samples]);
  const busyAfter = await page.busyMs();
  const cpuPerEvent = (busyAfter - busyBetween - (busyBetween - busyBefore)) / samples;
  return { ...result, cpuPerEvent };
}

async function measureDrain(
  { plan }: Setting,
  page: BenchPage,
  deliveries: Deliveries,
  made: number,
): Promise<DrainResult> {
  await sleep(1_000);
  const stored = (await page.call('storedEventIds', [])).length;
  const before = deliveries.tally();
  await page.call('meter', [gameMs]);
  await page.setOffline(false);
  // Doesn't wait for the call to return, because a page that freezes while it sends would respond late or never.
  page.call('flush', []).catch(() => undefined);
  const { ms } = await waitForArrivals(deliveries, {
    count: before.arrived + made,
    quietMs: 4_000,
    budgetMs: plan.drainBudgetMs,
  });
  // A page that doesn't respond is frozen. That is a valid result, not an error.
  const frames = await page.call('endMeter', [], 5_000).catch(() => undefined);
  const after = deliveries.tally();
  return {
    made,
    stored,
    ms,
    frames,
    arrived: after.arrived - before.arrived,
    duplicateSends: after.duplicateSends - before.duplicateSends,
    duplicatesAfterDeduplication:
      after.duplicatesAfterDeduplication - before.duplicatesAfterDeduplication,
    requests: after.requests - before.requests,
  };
}
