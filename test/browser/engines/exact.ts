import { expect } from 'vitest';
import { userEvent } from 'vitest/browser';
import { createAds } from '../../../src/create-ads.ts';
import type { ShowResult } from '../../../src/outcome.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';
import { keyboard, keys } from '../engine/real-input.ts';
import { frames, resetHidden, setHidden } from '../phaser/phaser-games.ts';
import type { ExactGame } from './exact-game.ts';
import { skipTime } from './wall-clock.ts';

/** What happens during an ad, apart from the ad itself. */
export interface AdStory {
  /** How long the ad lasts for the engine's clocks, in milliseconds, in addition to the time that the test takes. */
  skippedMs?: number;
  /** Runs while the ad is up. */
  during?(game: ExactGame): void | Promise<void>;
}

/**
 * The definition of *exact*: shows an ad in a running game, and checks that
 *
 * - no frame runs and nothing moves while it is up, sounds included
 * - the first frame after it is an ordinary frame: no delta and nothing that moves includes the ad
 * - the reward arrives in a frame, once
 * - a key that the player released during the ad is up
 * - the canvas has the focus
 */
export async function expectExact(game: ExactGame, story: AdStory = {}): Promise<void> {
  const rewards: number[] = [];
  const ads = startAds(game);
  ads.on('reward', () => void rewards.push(game.deltas.length));
  await expectRunning(game);
  const usualDelta = Math.max(34, ...game.deltas.slice(-3));
  game.canvas.focus();
  await keyboard.down(keys.right);
  await eventually(() => expect(game.isKeyDown()).toBe(true));

  const opened = once((done) => ads.on('start', done));
  let before = readState(game);
  let after = before;
  let closedAtMs = 0;
  const result = ads.showRewarded('revive', {
    onOpen: () => (before = readState(game)),
    onClose() {
      after = readState(game);
      closedAtMs = performance.now();
    },
  });
  await opened;
  if (game.audio) await eventually(() => expect(game.audio?.state).toBe('suspended'));
  const soundAt = game.audio?.currentTime;
  await keyboard.up(keys.right);
  await story.during?.(game);
  skipTime(story.skippedMs ?? 0);
  // What an engine sees when the player looks at another tab.
  for (const hidden of [true, false]) {
    setHidden(hidden);
    window.dispatchEvent(new Event(hidden ? 'blur' : 'focus'));
  }
  resetHidden();
  await frames(5);
  expect(game.audio?.currentTime, 'sounds').toBe(soundAt);
  expect((await result).outcome).toBe('rewarded');
  // The reward's confirmation comes later, so frames have run since `onClose`.
  expect(after, 'the state when the ad closed').toEqual(before);

  await expectRunning(game);
  const firstDelta = game.deltas[before.frames] ?? NaN;
  const sinceMs = performance.now() - closedAtMs;
  expect(firstDelta, 'the first delta').toBeGreaterThanOrEqual(0);
  expect(firstDelta, 'the first delta').toBeLessThanOrEqual(usualDelta + sinceMs);
  for (const [name, ms] of Object.entries(game.clocks())) {
    const movedMs = ms - (before.clocks[name] ?? 0);
    expect(movedMs, name).toBeGreaterThanOrEqual(0);
    expect(movedMs, name).toBeLessThanOrEqual(usualDelta + performance.now() - closedAtMs);
  }
  if (game.audio) await eventually(() => expect(game.audio?.state).toBe('running'));
  await eventually(() => expect(rewards).toHaveLength(1));
  expect(game.isKeyDown(), 'the key').toBe(false);
  expect(document.activeElement).toBe(game.canvas);
  ads.destroy();
}

/** A game that had paused itself stays paused after the ad, until it resumes itself. */
export async function expectOwnPauseKept(game: ExactGame): Promise<void> {
  const ads = startAds(game);
  await expectRunning(game);
  game.pause();
  await frames(2);
  const before = readState(game);
  await watchUntilAborted(ads);
  await frames(4);
  expect(readState(game)).toEqual(before);
  // A menu that the player closes during an ad.
  await watchUntilAborted(ads, async () => {
    game.resume();
    await frames(4);
    expect(readState(game)).toEqual(before);
  });
  await expectRunning(game);
  ads.destroy();
}

/** A game that is destroyed during an ad ends the ad break without an error, and stays destroyed. */
export async function expectDestroyable(game: ExactGame): Promise<void> {
  const ads = startAds(game);
  await expectRunning(game);
  let framesRun = 0;
  await watchUntilAborted(ads, () => {
    game.destroy();
    framesRun = game.deltas.length;
  });
  await frames(4);
  expect(game.deltas.length).toBe(framesRun);
  ads.destroy();
}

function startAds({ driver }: ExactGame) {
  const service = createStubService();
  service.respond = () => picture(400);
  return createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    engine: driver,
  });
}

async function watchUntilAborted(
  ads: ReturnType<typeof startAds>,
  during?: () => void | Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const opened = once((done) => ads.once('start', done));
  const result: Promise<ShowResult> = ads.showRewarded('revive', { signal: controller.signal });
  await opened;
  await during?.();
  controller.abort();
  expect((await result).outcome).toBe('aborted');
}

const readState = (game: ExactGame) => ({ frames: game.deltas.length, clocks: game.clocks() });

async function expectRunning({ deltas }: ExactGame): Promise<void> {
  const { length } = deltas;
  await eventually(() => expect(deltas.length).toBeGreaterThan(length + 2));
}

const once = (subscribe: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => subscribe(() => resolve()));

/** A page may play sound only after a user gesture. */
export const allowSound = (): Promise<void> => userEvent.click(document.body);
