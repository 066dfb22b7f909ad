import { expect, inject } from 'vitest';
import { deliveredRewards, show } from '../browser.ts';
import { it } from '../worker.ts';

const count = inject('full') ? 200 : 3;
/** The moments lie between the end of the ad and a time at which the reward has arrived, in milliseconds. */
const lastMomentMs = 1_000;

it(
  'a reward that is pending when the page is reloaded is delivered within 10 s, at any moment',
  { timeout: 900_000 },
  async ({ browser, stack }) => {
    for (let index = 0; index < count; index += 1) {
      const player = `reloads-${index}`;
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(stack.pageFor(player));
      await show(page, 'showRewarded', 'revive');
      await page.waitForFunction(() => window.ads.diagnostics().rewards.pending === 1, null, {
        polling: 10,
      });
      const momentMs = (index / count) * lastMomentMs;
      await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), momentMs);
      await page.reload();
      await expect
        .poll(() => deliveredRewards(page), {
          timeout: 10_000,
          interval: 50,
          message: `after a reload ${momentMs} ms after the ad`,
        })
        .toHaveLength(1);
      await page.reload();
      expect(
        await deliveredRewards(page),
        `after a reload ${momentMs} ms after the ad`,
      ).toHaveLength(1);
      await context.close();
    }
  },
);
