import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { click } from './real-input.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';
import { changeRate } from '../ad-break/pass-time.ts';
import { overlay } from '../ad-break/stage-set.ts';
import { frames, resetHidden, setHidden } from '../phaser/phaser-games.ts';
import { games, type GameWithAds } from './games.ts';
import { eventually } from '../../support/eventually.ts';

// Tests the same faults with every driver. After any fault, the game must resume and receive exactly one result.

describe.each(games)('With $name', ({ name, start }) => {
  let service: StubService;
  let game: GameWithAds;
  let rewards: EarnedReward[];

  beforeEach(async () => {
    document.body.replaceChildren();
    service = createStubService();
    game = await start({
      publishableKey: createPublishableKey(),
      serviceUrl: 'https://ads.test',
      userRef: 'player-1',
      loadTimeoutMs: 5000,
      fetch: service.fetch,
    });
    rewards = [];
    game.ads.on('reward', (reward) => void rewards.push(reward));
  });

  afterEach(async () => {
    resetHidden();
    await game.end();
  });

  const waitForStart = () =>
    new Promise<void>((resolve) => {
      game.ads.on('start', () => resolve());
    });

  async function expectHeld(): Promise<void> {
    const framesBefore = game.frames();
    await frames(3);
    expect(game.frames()).toBe(framesBefore);
  }

  async function expectRestored(): Promise<void> {
    const framesBefore = game.frames();
    await eventually(() => expect(game.frames()).toBeGreaterThan(framesBefore));
    expect(document.querySelector('body > :not(canvas, div:has(canvas))')).toBeNull();
    expect(document.activeElement).toBe(game.canvas);
  }

  it('a watched ad pauses the game and delivers its reward once, during a game frame', async () => {
    const framesSeen: number[] = [];
    const sample = () => void framesSeen.push(game.frames());
    const { outcome } = await game.ads.showRewarded('revive', { onOpen: sample, onClose: sample });
    expect(outcome).toBe('rewarded');
    expect(framesSeen).toHaveLength(2);
    expect(framesSeen[1]).toBe(framesSeen[0]);
    await expectRestored();
    await eventually(() => expect(rewards).toHaveLength(1));
    expect(rewards[0]).toMatchObject({ placement: 'revive', reward: { amount: 50 } });
    await frames(5);
    expect(rewards).toHaveLength(1);
  });

  it('an ad that fails to load never pauses the game', async () => {
    // Not a missing file, for which a busy test server may take longer than an ad may load.
    service.respond = () => picture(400, '../tsconfig.json');
    const onOpen = vi.fn();
    const { outcome } = await game.ads.showRewarded('revive', { onOpen });
    expect(outcome).toBe('error');
    expect(onOpen).not.toHaveBeenCalled();
  });

  it('a failing service never pauses the game', async () => {
    service.respond = () => new Response('', { status: 503 });
    const onOpen = vi.fn();
    await game.ads.showRewarded('revive', { onOpen });
    expect(onOpen).not.toHaveBeenCalled();
  });

  it('a stalled ad ends with `stalled`', async () => {
    // The test fires the watchdog's eight-second timer immediately.
    const { after } = systemClock;
    const pending = new Set<() => void>();
    vi.spyOn(systemClock, 'after').mockImplementation((ms, callback) => {
      if (ms !== 8000) return after(ms, callback);
      pending.add(callback);
      return () => pending.delete(callback);
    });
    service.respond = () => ({ ...picture(2900), creative: videoCreative() });
    const running = game.ads.showRewarded('revive');
    await waitForStart();
    const video = document.querySelector('video');
    // The video claims to be playing but makes no progress, as if data had stopped arriving.
    if (video) changeRate(video, 0);
    expect(pending.size).toBe(1);
    for (const runTimer of pending) runTimer();
    expect((await running).outcome).toBe('stalled');
    await expectRestored();
    expect(rewards).toEqual([]);
  });

  it('an ad that is aborted while playing ends immediately', async () => {
    service.respond = () => picture(60_000);
    const controller = new AbortController();
    const running = game.ads.showRewarded('revive', { signal: controller.signal });
    await waitForStart();
    controller.abort();
    expect((await running).outcome).toBe('aborted');
    await expectRestored();
  });

  it('destroying the SDK during an ad resumes the game', async () => {
    service.respond = () => picture(60_000);
    const running = game.ads.showRewarded('revive');
    await waitForStart();
    game.ads.destroy();
    expect((await running).outcome).toBe('aborted');
    await expectRestored();
  });

  it('an ad that the player closes early earns nothing', async () => {
    service.respond = () => picture(60_000);
    const running = game.ads.showRewarded('revive');
    await waitForStart();
    const press = async (selector: string) => {
      const button = overlay().findVisible(selector);
      if (button) await click(button);
    };
    // Input is ignored at first.
    await vi.waitFor(async () => {
      if (!overlay().findVisible('.ask')) await press('button.close');
      expect(overlay().findVisible('.ask')).toBeDefined();
    }, 20_000);
    await press('.ask button:last-child');
    expect((await running).outcome).toBe('dismissed');
    await expectRestored();
    expect(rewards).toEqual([]);
  });

  it('the game stays paused during the ad when the page is hidden and shown again', async () => {
    service.respond = () => picture(60_000);
    const controller = new AbortController();
    const running = game.ads.showRewarded('revive', { signal: controller.signal });
    await waitForStart();
    setHidden(true);
    setHidden(false);
    await expectHeld();
    controller.abort();
    await running;
    await expectRestored();
  });

  /** Collects errors that nobody has caught, until the test ends. The returned function returns their messages. */
  function collectUncaught(): () => string[] {
    const messages: string[] = [];
    const abortController = new AbortController();
    window.addEventListener(
      'error',
      (event) => {
        messages.push(event.message);
        event.preventDefault();
        event.stopImmediatePropagation();
      },
      { capture: true, signal: abortController.signal },
    );
    // Otherwise, a test that fails would keep the next test's errors from it.
    onTestFinished(() => abortController.abort());
    return () => messages;
  }
  const fail = () => {
    throw new Error('an error in the game');
  };

  it('errors in the game’s handlers do not stop the ad break', async () => {
    const uncaught = collectUncaught();
    const { outcome } = await game.ads.showRewarded('revive', { onOpen: fail, onClose: fail });
    expect(outcome).toBe('rewarded');
    await expectRestored();
    await eventually(() => expect(rewards).toHaveLength(1));
    expect(uncaught()).toHaveLength(2);
  });

  it.runIf(name !== 'no engine').each(['pause', 'resume'] as const)(
    'an error in the game’s listener to its engine’s %s does not stop the ad break',
    async (event) => {
      const uncaught = collectUncaught();
      game.on?.(event, fail);
      const running = game.ads.showRewarded('revive');
      await waitForStart();
      await expectHeld();
      expect((await running).outcome).toBe('rewarded');
      await expectRestored();
      await eventually(() => expect(rewards).toHaveLength(1));
      expect(uncaught()).toHaveLength(1);
    },
  );
});

function videoCreative() {
  const file = (name: string, mime: string) => ({
    url: new URL(`../../media/${name}`, import.meta.url).href,
    mime,
    width: 320,
    height: 180,
  });
  return {
    id: 'crv_01jabcdefghjkmnpqrstvwxyz0',
    alt: 'Meadow, a quiet game about sheep',
    media: {
      format: 'video' as const,
      files: [file('clip.mp4', 'video/mp4'), file('clip.webm', 'video/webm')],
      duration_ms: 3000,
    },
  };
}
