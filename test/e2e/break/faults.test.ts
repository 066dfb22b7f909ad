import type { Browser, Page } from 'playwright';
import { describe, expect } from 'vitest';
import { asBefore, button, hasStarted, resultOf, stateOf, watch } from './player.ts';
import { type Site, startSite } from './site.ts';
import { speedUp } from '../speed-up.ts';
import { it } from '../worker.ts';

let site: Site;
let browser: Browser;
let page: Page;

/** Opens the page for the ad of this placement; its time passes `speed` times as fast. */
async function open(placement: string, speed = 1): Promise<void> {
  page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  if (speed !== 1) await page.addInitScript(speedUp, speed);
  await page.goto(site.pageFor(placement));
}

/** Makes the ads of the page last longer than what comes of their video. */
async function demandAll(): Promise<void> {
  await page.route('**/v1/decisions', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({
      response: answer,
      json: { ...(await answer.json()), min_watch_ms: 11_000 },
    });
  });
}

it.beforeAll(async ({ browser: shared }) => {
  site = await startSite();
  browser = shared;
});
it.afterEach(() => page?.context().close());
it.afterAll(() => site?.stop());

describe('after a gesture of the player', () => {
  it.each([
    ['missing', 'error', 'load_failed'],
    ['wrong-type', 'error', 'load_failed'],
    ['mute', 'timeout', undefined],
  ])('media that is %s touches nothing, and is told as %s', async (placement, outcome, reason) => {
    // Eight seconds of the page's time are waited for media that says nothing.
    await open(placement, outcome === 'timeout' ? 8 : 1);
    await watch(page);
    const result = await resultOf(page);
    expect([result?.outcome, result?.reason]).toEqual([
      outcome,
      outcome === 'timeout' ? result?.reason : reason,
    ]);
    expect(await stateOf(page)).toEqual(asBefore('play'));
  });

  it('a video that stops coming is given up', async () => {
    // It is given up after eight seconds without progress.
    await open('stalling', 2);
    await demandAll();
    await watch(page);
    expect(await resultOf(page)).toMatchObject({ outcome: 'stalled' });
    expect(await stateOf(page)).toEqual(asBefore('play'));
  });

  it('a video that can’t be decoded further is an error', async () => {
    await open('broken', 2);
    await demandAll();
    await watch(page);
    expect(['error', 'stalled']).toContain((await resultOf(page))?.outcome);
    expect(await stateOf(page)).toEqual(asBefore('play'));
  });

  it.each(['throwing', 'navigating', 'popping', 'reading'])(
    'an HTML creative that is %s harms nothing, and is rewarded for its time',
    async (placement) => {
      await open(placement);
      const address = page.url();
      await watch(page);
      await page.getByText('Your reward is on its way').first().waitFor();
      await button(page, 'Close ad').first().click();
      expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
      expect(page.url()).toBe(address);
      expect(await page.title()).toBe('A game on a strict page');
      expect(page.context().pages()).toHaveLength(1);
      expect(await stateOf(page)).toEqual(asBefore('play'));
    },
  );

  it('an HTML creative that floods the page is cut off', async () => {
    await open('flooding');
    await watch(page);
    expect(await resultOf(page)).toMatchObject({ outcome: 'error' });
    expect(await stateOf(page)).toEqual(asBefore('play'));
  });

  it('a page that is frozen goes on where it was', async () => {
    await open('image');
    await watch(page);
    await hasStarted(page);
    const session = await page.context().newCDPSession(page);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
  });

  it('an ad is over a game in full screen, and stays when full screen is left or entered', async () => {
    await open('image');
    await page.locator('#game').evaluate((game) => game.requestFullscreen());
    // The button lies under the canvas now.
    await page.evaluate(() => document.querySelector<HTMLElement>('#play')?.click());
    await hasStarted(page);
    const covered = () =>
      page.evaluate(
        () => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.id !== 'game',
      );
    expect(await covered()).toBe(true);
    await page.evaluate(() => document.exitFullscreen());
    expect(await covered()).toBe(true);
    await page.locator('#game').evaluate((game) => game.requestFullscreen());
    expect(await covered()).toBe(true);
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await page.evaluate(() => document.fullscreenElement?.id)).toBe('game');
  });

  it('a second call answers already_showing, and does not disturb the first', async () => {
    await open('image');
    await watch(page);
    await hasStarted(page);
    expect(await page.evaluate(() => window.breakPage.ads.showRewarded('html'))).toEqual({
      outcome: 'already_showing',
      detail: 'The ad of image has not ended.',
    });
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
  });

  it.each(['video', 'image', 'html'])(
    'destroy() in the middle of %s gives the game back',
    async (kind) => {
      await open(kind);
      await watch(page);
      await hasStarted(page);
      await page.evaluate(() => window.breakPage.ads.destroy());
      expect(await resultOf(page)).toMatchObject({ outcome: 'aborted' });
      expect(await stateOf(page)).toEqual(asBefore('play'));
    },
  );

  it('shows the captions in the player’s language', async () => {
    await open('video');
    await watch(page);
    await hasStarted(page);
    await page.waitForFunction(() => {
      const [track] = document.querySelector('video')?.textTracks ?? [];
      return track?.mode === 'showing' && track.activeCues?.length === 1;
    });
  });
});

describe('without a gesture, which the browser wants before sound', () => {
  /** Opens the page and waits until it has said `text` as often; looking into it would be a gesture. */
  async function openUntil(text: string, times: number): Promise<void> {
    let said = 0;
    const heard = new Promise<void>((resolve) => {
      page.on('console', (message) => {
        if (message.text() === text && (said += 1) === times) resolve();
      });
    });
    await page.goto(site.pageFor('video', { 'at-once': '1' }));
    await heard;
  }

  async function watchToTheEnd(): Promise<void> {
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await resultOf(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await stateOf(page)).toEqual(asBefore('game'));
  }

  it('a video plays without sound at first, and the player can turn it on', async () => {
    page = await browser.newPage();
    await openUntil('started', 1);
    await button(page, 'Turn sound on').click();
    await button(page, 'Turn sound off').waitFor();
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.muted)).toBe(
      false,
    );
    await watchToTheEnd();
  });

  it('a video that may not even play without sound waits for a tap', async () => {
    page = await browser.newPage();
    await page.addInitScript(() => {
      const play = HTMLMediaElement.prototype.play;
      HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
        if (navigator.userActivation.hasBeenActive) return play.call(this);
        console.info('refused');
        return Promise.reject(new DOMException('No gesture.', 'NotAllowedError'));
      };
    });
    // With sound, then without.
    await openUntil('refused', 2);
    await button(page, 'Tap to play').click();
    await watchToTheEnd();
  });
});
