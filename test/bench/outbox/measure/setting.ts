import { setTimeout as sleep } from 'node:timers/promises';
import { openPage, type BenchPage } from '../browser-page.ts';
import { launch, createProfile, removeProfile, type Browser } from '../chromium.ts';
import type { ContenderInfo } from '../contenders.ts';
import type { Deliveries } from '../deliveries.ts';
import type { Plan } from '../plan.ts';
import type { Receiver } from '../receiver.ts';

/** What all measurements share. */
export interface Setting {
  plan: Plan;
  receiver: Receiver;
}

let runs = 0;

/** Returns a unique name for a run, so that the run does not count an earlier run's events. */
export const nextRun = (): string => `r${++runs}`;

/** Calls `work` with a new browser profile, and removes the profile afterwards. */
export async function withProfile<T>(work: (profile: string) => Promise<T>): Promise<T> {
  const profile = await createProfile();
  try {
    return await work(profile);
  } finally {
    await removeProfile(profile);
  }
}

/** Calls `work` with a browser that uses this profile, and closes the browser afterwards. */
export async function withBrowser<T>(
  profile: string,
  work: (browser: Browser) => Promise<T>,
): Promise<T> {
  const browser = await launch(profile);
  try {
    return await work(browser);
  } finally {
    await browser.kill();
  }
}

/** Returns the name of the contender's script. The control has none. */
const findScript = ({ file, name }: ContenderInfo): string | undefined =>
  file === undefined ? undefined : name;

/** Opens a page that runs the contender. */
export const openContender = (
  { receiver }: Setting,
  browser: Browser,
  run: string,
  contender: ContenderInfo,
): Promise<BenchPage> => openPage(browser, receiver.origin, run, findScript(contender));

/** Waits until `count` events have arrived, no event has arrived for `quietMs`, or `budgetMs` have passed. */
export async function waitForArrivals(
  deliveries: Deliveries,
  { count, quietMs, budgetMs }: { count: number; quietMs: number; budgetMs: number },
): Promise<{ ms: number }> {
  const startedAt = performance.now();
  let newestAt = startedAt;
  for (let arrived = 0; ; await sleep(20)) {
    const now = performance.now();
    const { arrived: arrivedNow } = deliveries.tally();
    if (arrivedNow !== arrived) [arrived, newestAt] = [arrivedNow, now];
    const isDone = now - newestAt > quietMs || now - startedAt > budgetMs;
    if (arrived >= count || isDone) return { ms: newestAt - startedAt };
  }
}
