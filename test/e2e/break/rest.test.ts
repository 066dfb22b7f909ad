import { expect, onTestFinished } from 'vitest';
import { type Site, startSite } from './site.ts';
import { watch } from './player.ts';
import { it } from '../worker.ts';

// An overlay that changes in each frame keeps a phone's processor busy for as long as an ad lasts.

let site: Site;
it.beforeAll(async () => {
  site = await startSite();
});
it.afterAll(() => site?.stop());

it.for(['image', 'video'])(
  'while it shows the %s, the page is laid out a few times a second, not in each frame',
  async (placement, { browser }) => {
    const page = await browser.newPage();
    onTestFinished(() => page.context().close());
    await page.goto(site.pageFor(placement));
    await page.route('**/v1/decisions', async (route) => {
      const response = await route.fetch();
      const decision = { ...(await response.json()), min_watch_ms: 20_000 };
      await route.fulfill({ response, json: decision });
    });
    await watch(page);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Performance.enable');
    const countLayouts = async (): Promise<number> => {
      const { metrics } = await devTools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'LayoutCount')?.value ?? Number.NaN;
    };
    const label = page.getByText(/^\d+ s$/);
    // The ad opens with an animation, and then shows how many seconds are left.
    const [, shown] = /(\d+)/.exec(await label.first().innerText()) ?? [];
    const waitUntilLeft = (seconds: number) =>
      page.getByText(`${seconds} s`, { exact: true }).first().waitFor();
    await waitUntilLeft(Number(shown) - 1);
    const before = await countLayouts();
    await waitUntilLeft(Number(shown) - 3);
    // The ad reports its progress four times a second, and a video its state too.
    expect((await countLayouts()) - before).toBeLessThan(40);
  },
);
