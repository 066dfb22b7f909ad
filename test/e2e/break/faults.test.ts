import type { Browser, Page, Route } from 'playwright';
import { describe, expect, inject } from 'vitest';
import { asBefore, button, waitForStart, getResult, getPageState, watch } from './player.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { type Site, startSite } from './site.ts';
import { speedUp } from '../speed-up.ts';
import { it } from '../worker.ts';

let site: Site;
let browser: Browser;
let page: Page;

/** Opens the page for this placement. Time in the page passes `speed` times as fast as real time. */
async function open(placement: string, speed = 1): Promise<void> {
  page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  if (speed !== 1) await speedUp(page, speed);
  await page.goto(site.pageFor(placement));
}

/** Requires the player to watch more of the video than will ever load. */
async function requireWholeVideo(): Promise<void> {
  await page.route('**/v1/decisions', async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      json: { ...(await response.json()), min_watch_ms: 11_000 },
    });
  });
}

it.beforeAll(async ({ browser: sharedBrowser }) => {
  site = await startSite();
  browser = sharedBrowser;
});
it.afterEach(() => page?.context().close());
it.afterAll(() => site?.stop());

describe('after a user gesture', () => {
  it.each([
    ['missing', 'error', 'load_failed'],
    ['wrong-type', 'error', 'load_failed'],
    ['mute', 'timeout', undefined],
  ])(
    'an ad with %s media ends with the outcome %s and leaves no trace',
    async (placement, outcome, reason) => {
      // The load timeout is eight seconds of page time.
      await open(placement, outcome === 'timeout' ? 8 : 1);
      await watch(page);
      const result = await getResult(page);
      expect([result?.outcome, result?.reason]).toEqual([
        outcome,
        outcome === 'timeout' ? result?.reason : reason,
      ]);
      expect(await getPageState(page)).toEqual(asBefore('play'));
    },
  );

  it('a video that stops loading ends with the outcome stalled', async () => {
    // The stall timeout is eight seconds without progress.
    await open('stalling', 2);
    await requireWholeVideo();
    await watch(page);
    expect(await getResult(page)).toMatchObject({ outcome: 'stalled' });
    expect(await getPageState(page)).toEqual(asBefore('play'));
  });

  const withoutFiles: [string, string, (route: Route) => unknown][] = [
    ['captions never arrive', '**/captions.vtt', () => undefined],
    ['captions are missing', '**/captions.vtt', (route) => route.fulfill({ status: 404 })],
    ['poster never arrives', '**/meadow-poster.jpg', () => undefined],
  ];
  it.each(rowsForRun(withoutFiles, 1))(
    'a video whose %s plays all the same',
    async (_, url, respond) => {
      await open('video', 2);
      await page.route(url, respond);
      await watch(page);
      await page.getByText('Your reward is on its way').first().waitFor();
      await button(page, 'Close ad').first().click();
      expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    },
  );

  it('a video that fails to decode partway through ends with the outcome error or stalled', async () => {
    await open('broken', 2);
    await requireWholeVideo();
    await watch(page);
    expect(['error', 'stalled']).toContain((await getResult(page))?.outcome);
    expect(await getPageState(page)).toEqual(asBefore('play'));
  });

  it.each(
    rowsForRun(
      [
        ['throws an error', 'throwing'],
        ['navigates the page', 'navigating'],
        ['opens popups', 'popping'],
        ['accesses the page', 'reading'],
        ['claims to the windows around it that it is complete', 'claiming'],
        ['downloads a file and asks the player', 'asking'],
        ['takes the focus, the pointer and the screen', 'grabbing'],
        ['rewrites its history', 'rewriting'],
      ],
      2,
    ),
  )('an HTML creative that %s does no harm and earns its reward', async (_, placement) => {
    await open(placement);
    const url = page.url();
    const harms: string[] = [];
    page.on('dialog', (dialog) => harms.push(dialog.type()));
    page.on('download', (download) => harms.push(download.suggestedFilename()));
    await watch(page);
    await page.getByText('Your reward is on its way').first().waitFor();
    expect(
      await page.evaluate(() => document.pointerLockElement ?? document.fullscreenElement),
    ).toBe(null);
    await button(page, 'Close ad').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(harms).toEqual([]);
    expect(page.url()).toBe(url);
    expect(await page.title()).toBe('A game on a strict page');
    expect(page.context().pages()).toHaveLength(1);
    expect(await getPageState(page)).toEqual(asBefore('play'));
  });

  it.each(rowsForRun(['early', 'busy', 'early-refresh'], 2))(
    'an HTML creative that leaves its page while it loads (%s) is not shown',
    async (placement) => {
      const requested: string[] = [];
      await open(placement);
      page.on('request', (request) => requested.push(new URL(request.url()).pathname));
      await watch(page);
      const { outcome, reason } = (await getResult(page)) ?? {};
      expect([outcome, reason]).toEqual(['error', 'load_failed']);
      expect(requested).not.toContain('/creative/ready.html');
      expect(await getPageState(page)).toEqual(asBefore('play'));
    },
  );

  it.each(rowsForRun(['location', 'replace', 'reload', 'link', 'refresh', 'write'], 3))(
    'an HTML creative that leaves its page (%s) ends its ad without a reward',
    async (placement) => {
      await open(placement);
      await watch(page);
      expect(await getResult(page)).toMatchObject({
        outcome: 'error',
        reason: 'creative_navigated',
      });
      expect(await getPageState(page)).toEqual(asBefore('play'));
    },
  );

  it.each(rowsForRun(['form', 'target', 'history'], 2))(
    'an HTML creative that tries to leave its page (%s) is not let out',
    async (placement) => {
      await open(placement);
      const url = page.url();
      await watch(page);
      await page.getByText('Your reward is on its way').first().waitFor();
      await button(page, 'Close ad').first().click();
      expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
      expect(page.url()).toBe(url);
    },
  );

  it('stops an HTML creative that floods the page with messages', async () => {
    await open('flooding');
    await watch(page);
    expect(await getResult(page)).toMatchObject({ outcome: 'error' });
    expect(await getPageState(page)).toEqual(asBefore('play'));
  });

  it('after the page is unfrozen, the ad resumes where it left off', async () => {
    await open('image');
    await watch(page);
    await waitForStart(page);
    const session = await page.context().newCDPSession(page);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
  });

  it('an ad stays on top when the game enters or exits full screen', async () => {
    await open('image');
    await page.locator('#game').evaluate((game) => game.requestFullscreen());
    // The full-screen canvas covers the button.
    await page.evaluate(() => document.querySelector<HTMLElement>('#play')?.click());
    await waitForStart(page);
    const isGameCovered = () =>
      page.evaluate(
        () => document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.id !== 'game',
      );
    expect(await isGameCovered()).toBe(true);
    await page.evaluate(() => document.exitFullscreen());
    expect(await isGameCovered()).toBe(true);
    await page.locator('#game').evaluate((game) => game.requestFullscreen());
    expect(await isGameCovered()).toBe(true);
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await page.evaluate(() => document.fullscreenElement?.id)).toBe('game');
  });

  // In a quick run, the browser tests show this for an engine and for each kind of creative.
  it.runIf(inject('full')).each(['video', 'image', 'html'])(
    'destroy() during %s returns control to the game',
    async (kind) => {
      await open(kind);
      await watch(page);
      await waitForStart(page);
      await page.evaluate(() => window.breakPage.ads.destroy());
      expect(await getResult(page)).toMatchObject({ outcome: 'aborted' });
      expect(await getPageState(page)).toEqual(asBefore('play'));
    },
  );

  it('shows the captions in the player’s language', async () => {
    await open('video');
    await watch(page);
    await waitForStart(page);
    await page.waitForFunction(() => {
      const [track] = document.querySelector('video')?.textTracks ?? [];
      return track?.mode === 'showing' && track.activeCues?.length === 1;
    });
  });
});

describe('without a user gesture', () => {
  /**
   * Opens the page and waits until it has logged `text` this many times. Tests rely on the log, because evaluating code
   * in the page would count as a user gesture.
   */
  async function openUntil(text: string, times: number): Promise<void> {
    let count = 0;
    const lastMessage = new Promise<void>((resolve) => {
      page.on('console', (message) => {
        if (message.text() === text && (count += 1) === times) resolve();
      });
    });
    await page.goto(site.pageFor('video', { immediately: '1' }));
    await lastMessage;
  }

  async function watchToTheEnd(): Promise<void> {
    await page.getByText('Your reward is on its way').first().waitFor();
    await button(page, 'Close ad').first().click();
    expect(await getResult(page)).toMatchObject({ outcome: 'rewarded' });
    expect(await getPageState(page)).toEqual(asBefore('game'));
  }

  it('a video starts muted, and the player can turn the sound on', async () => {
    page = await browser.newPage();
    await openUntil('started', 1);
    // The ad ignores input for a moment. A player presses again.
    const turnOn = button(page, 'Turn sound on');
    await turnOn.waitFor();
    await expect
      .poll(async () => {
        if (await turnOn.isVisible()) await turnOn.click();
        return button(page, 'Turn sound off').isVisible();
      })
      .toBe(true);
    expect(await page.locator('video').evaluate((video: HTMLVideoElement) => video.muted)).toBe(
      false,
    );
    await watchToTheEnd();
  });

  it('a video waits for a tap if even muted playback is blocked', async () => {
    page = await browser.newPage();
    await page.addInitScript(() => {
      const play = HTMLMediaElement.prototype.play;
      HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
        if (navigator.userActivation.hasBeenActive) return play.call(this);
        console.info('blocked');
        return Promise.reject(new DOMException('No gesture.', 'NotAllowedError'));
      };
    });
    // Playback is blocked twice: first with sound, then muted.
    await openUntil('blocked', 2);
    // The ad ignores input for a moment. A player taps again.
    const tapToPlay = button(page, 'Tap to play');
    await tapToPlay.waitFor();
    await expect
      .poll(async () => {
        if (await tapToPlay.isVisible()) await tapToPlay.click();
        return tapToPlay.isVisible();
      })
      .toBe(false);
    await watchToTheEnd();
  });
});
