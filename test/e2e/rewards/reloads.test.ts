import type { Browser } from 'playwright';
import { expect, inject } from 'vitest';
import { deliveredRewards, show } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';

const count = inject('full') ? 200 : 2;
/** How many players reload at the same time. */
const concurrency = inject('full') ? 4 : 1;
/** The moments lie between the end of the ad and a time at which the reward has arrived, in milliseconds. */
const lastMomentMs = 1_000;

/** Watches an ad, reloads the page this long after its end, and waits for the reward. Returns the wait. */
async function reloadAfter(
  momentMs: number,
  player: string,
  { browser, stack }: { browser: Browser; stack: Stack },
): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(stack.pageFor(player));
  await show(page, 'showRewarded', 'revive');
  await page.waitForFunction(() => window.ads.diagnostics().rewards.pending === 1, null, {
    polling: 10,
  });
  await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), momentMs);
  await page.reload();
  const reloadedAtMs = performance.now();
  const message = `after a reload ${momentMs} ms after the ad`;
  await expect
    .poll(() => deliveredRewards(page), { timeout: 10_000, interval: 50, message })
    .toHaveLength(1);
  const waitedMs = performance.now() - reloadedAtMs;
  await page.reload();
  expect(await deliveredRewards(page), message).toHaveLength(1);
  await context.close();
  return waitedMs;
}

it(
  'a reward that is pending when the page is reloaded is delivered within 10 s, at any moment',
  { timeout: 900_000 },
  async ({ browser, stack }) => {
    const waits: number[] = [];
    let begun = 0;
    const reloadNext = async (): Promise<void> => {
      while (begun < count) {
        const index = begun;
        begun += 1;
        const momentMs = (index / count) * lastMomentMs;
        waits.push(await reloadAfter(momentMs, `reloads-${index}`, { browser, stack }));
      }
    };
    await Promise.all(Array.from({ length: concurrency }, reloadNext));
    expect(waits).toHaveLength(count);
    console.log(`${count} reloads; the longest wait: ${Math.round(Math.max(...waits))} ms`);
  },
);
