import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { show } from '../browser.ts';
import { openRawBrowser } from '../outbox/raw-browser.ts';
import { it } from '../worker.ts';
import { fetchStatus, recordTraffic } from './cheat.ts';

// The ads last five seconds, so that the attacks cannot succeed just because the machine is slow.
const pollOptions = { timeout: 30_000, interval: 100 };

it('a player with two devices earns only one reward for two simultaneous ads', async ({
  browser,
  stack,
}) => {
  const name = 'player-of-two';
  const readCoins = async (): Promise<number> => (await stack.account(name)).coins;
  const devices = [await browser.newContext(), await browser.newContext()];
  try {
    const pages = await Promise.all(devices.map((device) => device.newPage()));
    for (const page of pages) await page.goto(stack.pageFor(name));
    const recordings = pages.map(recordTraffic);
    await Promise.all(pages.map((page) => show(page, 'showRewarded', 'long')));
    const decisionIds = await Promise.all(
      recordings.map(async ({ decisions }) => {
        await expect.poll(() => decisions.length, pollOptions).toBe(1);
        return decisions[0]?.id ?? '';
      }),
    );
    const fetchStatuses = () => Promise.all(decisionIds.map((id) => fetchStatus(stack, id)));
    await expect
      .poll(async () => (await fetchStatuses()).map(({ state }) => state), pollOptions)
      .toContain('earned');
    // The second reward waits, and expires.
    await expect
      .poll(async () => (await fetchStatuses()).map(({ reason }) => reason), pollOptions)
      .toContain('overlapping_watch');
    // The game server receives the reward by webhook, shortly after the status endpoint returns it.
    await expect.poll(() => readCoins(), pollOptions).toBe(25);
    expect((await stack.account(name)).credits).toHaveLength(1);
  } finally {
    await Promise.all(devices.map((device) => device.close()));
  }
});

it('an ad in a background tab accrues no watch time until the player returns', async ({
  stack,
}) => {
  const name = 'player-in-tabs';
  const readCoins = async (): Promise<number> => (await stack.account(name)).coins;
  const profile = await mkdtemp(join(tmpdir(), 'trueward-hidden-'));
  const rawBrowser = openRawBrowser(profile);
  try {
    const tab = await rawBrowser.openTab(stack.pageFor(name));
    // Waits for the SDK, because a new tab's initial about:blank also reports readyState 'complete'.
    await expect.poll(() => tab.evaluate('typeof window.ads'), pollOptions).toBe('object');
    await tab.activate();
    await expect.poll(() => tab.evaluate('document.visibilityState'), pollOptions).toBe('visible');
    await tab.evaluate(
      "void ads.showRewarded('long').then((result) => (window.lastResult = JSON.stringify(result)))",
    );
    const resultOrPlacement = 'window.lastResult ?? ads.diagnostics().showing';
    await expect.poll(() => tab.evaluate(resultOrPlacement), pollOptions).toBe('long');
    await (await rawBrowser.openTab('about:blank')).activate();
    await expect.poll(() => tab.evaluate('document.visibilityState'), pollOptions).toBe('hidden');
    await tab.evaluate('void (window.hiddenAt = performance.now())');
    // Waits longer than the ad lasts.
    await expect
      .poll(() => tab.evaluate('performance.now() - hiddenAt > 7000'), pollOptions)
      .toBe(true);
    expect(await tab.evaluate('ads.diagnostics().rewards.pending')).toBe(0);
    expect(await readCoins()).toBe(0);
    await tab.activate();
    await expect.poll(() => readCoins(), pollOptions).toBe(25);
  } finally {
    await rawBrowser.kill();
    await rm(profile, { recursive: true, force: true });
  }
});
