import { setTimeout as sleep } from 'node:timers/promises';
import type { ContenderInfo } from '../contenders.ts';
import type { Deliveries, Tally } from '../deliveries.ts';
import { nextRun, openContender, waitForArrivals, withBrowser, withProfile } from './setting.ts';
import type { Setting } from './setting.ts';

/** The events that arrived in a drain with two injected faults, both of which can cause duplicates. */
export interface FaultyDrainResult extends Tally {
  made: number;
}

/**
 * Sends stored events and injects two faults. The response to the second request is lost. When half of the events have
 * arrived, the browser is killed and restarted.
 */
export const measureFaultyDrain = (
  setting: Setting,
  contender: ContenderInfo,
): Promise<FaultyDrainResult> =>
  withProfile(async (profile) => {
    const eventCount = setting.plan.faultyEvents;
    const run = nextRun();
    let deliveries: Deliveries | undefined;
    await withBrowser(profile, async (browser) => {
      const page = await openContender(setting, browser, run, contender);
      await page.setOffline(true);
      await sleep(300);
      await page.call('fill', [eventCount, 5_000]);
      await sleep(1_000);
      deliveries = setting.receiver.begin(run, contender.messageId, {
        latencyMs: 50,
        lostResponses: [2],
      });
      await page.setOffline(false);
      await page.call('flush', []);
      await waitForArrivals(deliveries, { count: eventCount / 2, quietMs: 4_000, budgetMs: 6_000 });
    });
    return withBrowser(profile, async (browser) => {
      const page = await openContender(setting, browser, nextRun(), contender);
      await page.call('flush', []);
      if (deliveries === undefined) throw new Error('The first browser did not send any events.');
      await waitForArrivals(deliveries, { count: Infinity, quietMs: 3_500, budgetMs: 8_000 });
      return { made: eventCount, ...deliveries.tally() };
    });
  });
