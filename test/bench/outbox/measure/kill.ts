import { setTimeout as sleep } from 'node:timers/promises';
import { openPage, type BenchPage } from '../browser-page.ts';
import type { Browser } from '../chromium.ts';
import type { ContenderInfo } from '../contenders.ts';
import type { Report } from '../page/bench.ts';
import { nextRun, openContender, withBrowser, withProfile, type Setting } from './setting.ts';

/** How many events survive when the whole browser is killed. */
export interface KillResult {
  events: number;
  delayMs: number;
  /** Number of events that the contender enqueued within the time budget. */
  made: number;
  /** How many of these events are in the browser's storage after the restart. */
  survived: number;
  /**
   * Number of events whose promise the page reported as resolved before the kill. `acknowledgedLost` is how many of them
   * were lost.
   */
  acknowledged: number;
  acknowledgedLost: number;
}

export interface KillCase {
  events: number;
  perFrame: number;
  delayMs: number;
}

const stormBudgetMs = 6_000;

/** Enqueues events offline, kills the browser `delayMs` after the last event, and counts the surviving events. */
export const measureKill = (
  setting: Setting,
  contender: ContenderInfo,
  { events, perFrame, delayMs }: KillCase,
): Promise<KillResult> =>
  withProfile(async (profile) => {
    const run = nextRun();
    setting.receiver.begin(run, contender.messageId);
    const { made, acknowledged } = await withBrowser(profile, async (browser) => {
      const page = await openContender(setting, browser, run, contender);
      await page.setOffline(true);
      await sleep(400);
      return enqueueAndKill(browser, page, { events, perFrame, delayMs });
    });
    const survivingIds = await withBrowser(profile, async (browser) => {
      // The contender is not started, because it could change the storage before the events are counted.
      const page = await openPage(browser, setting.receiver.origin, run);
      return new Set(await page.call('storedEventIds', []));
    });
    return {
      events,
      delayMs,
      made,
      survived: survivingIds.size,
      acknowledged: acknowledged.length,
      acknowledgedLost: acknowledged.filter((id) => !survivingIds.has(id)).length,
    };
  });

async function enqueueAndKill(
  browser: Browser,
  page: BenchPage,
  { events, perFrame, delayMs }: KillCase,
): Promise<{ made: number; acknowledged: string[] }> {
  const acknowledged: string[] = [];
  const { promise: stormEnd, resolve: endStorm } = createDeferred<number>();
  await page.onReport((text) => {
    const report = JSON.parse(text) as Report;
    if ('made' in report) endStorm(report.made);
    else acknowledged.push(...report.acknowledged);
  });
  // The last report normally arrives before this call returns. Racing the report against the call detects a failed
  // call.
  const storm = page.call('storm', [events, perFrame, stormBudgetMs]);
  const made = await Promise.race([stormEnd, storm.then(() => stormEnd)]);
  if (delayMs > 0) await sleep(delayMs);
  await browser.kill();
  return { made, acknowledged };
}

function createDeferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
