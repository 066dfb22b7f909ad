import { server } from 'vitest/browser';
import { expect } from 'vitest';
import type { Ads } from '../../../src/ads.ts';
import { createAds } from '../../../src/create-ads.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';
import { click, keyboard, keys } from '../engine/real-input.ts';
import { frames, resetHidden, setHidden } from '../phaser/phaser-games.ts';
import type { ExactGame } from './exact-game.ts';
import { meterFrames, skipTime } from './wall-clock.ts';

/**
 * The definition of *exact*. Shows an ad in a running game, and checks that
 *
 * - no frame runs and nothing moves while it is up, sounds included, also if the player looks at another tab
 * - the first frame after it is an ordinary frame: no delta and nothing that moves includes the ad
 * - a key that the player released during the ad is up
 * - the canvas has the focus
 *
 * @param adMs - How long the ad lasts, as the engine's clocks tell.
 */
export async function expectExact(game: ExactGame, adMs: number): Promise<void> {
  const ads = startAds(game);
  await expectRunning(game);
  const meter = meterFrames();
  game.canvas.focus();
  await keyboard.down(keys.right);
  await eventually(() => expect(game.isKeyDown()).toBe(true));

  let before = readState(game);
  let openedAtMs = 0;
  let mostMs = 0;
  const controller = new AbortController();
  const result = ads.showRewarded('revive', {
    signal: controller.signal,
    onOpen() {
      before = readState(game);
      openedAtMs = performance.now();
      mostMs = meter.sinceFrameMs() + Math.max(meter.lastFrameMs(), game.deltas.at(-1) ?? 0);
    },
  });
  await once((done) => ads.once('start', done));
  if (game.audio) await eventually(() => expect(game.audio?.state).toBe('suspended'));
  const soundAt = game.audio?.currentTime;
  await keyboard.up(keys.right);
  for (const hidden of [true, false]) {
    setHidden(hidden);
    window.dispatchEvent(new Event(hidden ? 'blur' : 'focus'));
  }
  resetHidden();
  while (performance.now() - openedAtMs < Math.min(adMs, 200)) await frames(1);
  skipTime(Math.max(0, openedAtMs + adMs - performance.now()));
  await frames(1);
  expect(game.audio?.currentTime, 'sounds').toBe(soundAt);
  expect(readState(game), 'the state before the ad closed').toEqual(before);
  const closedAtMs = performance.now();
  mostMs += meter.sinceFrameMs();
  meter.stop();
  controller.abort();
  expect((await result).outcome).toBe('aborted');

  const first = followClocks(game);
  await expectRunning(game);
  first.stop();
  const { aheadMs = 0 } = game;
  for (const [name, ms] of Object.entries(first.lowest()))
    expect(ms, `${name} steps back`).toBeGreaterThanOrEqual((before.clocks[name] ?? NaN) - aheadMs);
  // What passed between the ad and the frames around it, and since the ad. Engines may repeat the last frame's
  // delta, or move by it only in the next frame.
  mostMs += performance.now() - closedAtMs + 2;
  const firstDelta = game.deltas[before.frames] ?? NaN;
  expect(firstDelta, 'the first delta').toBeGreaterThanOrEqual(0);
  expect(firstDelta, 'the first delta').toBeLessThanOrEqual(mostMs);
  for (const [name, ms] of Object.entries(game.clocks())) {
    const movedMs = ms - (before.clocks[name] ?? NaN);
    expect(movedMs, name).toBeGreaterThan(-aheadMs);
    expect(movedMs, name).toBeLessThanOrEqual(mostMs);
  }
  if (game.audio) await eventually(() => expect(game.audio?.state).toBe('running'));
  expect(game.isKeyDown(), 'the key').toBe(false);
  expect(document.activeElement).toBe(game.canvas);
  ads.destroy();
}

/** Follows what moves in a game, frame by frame, and tells the lowest value of each clock. */
function followClocks(game: ExactGame): { lowest(): Record<string, number>; stop(): void } {
  const lowest = game.clocks();
  let frame = requestAnimationFrame(function follow() {
    for (const [name, ms] of Object.entries(game.clocks()))
      lowest[name] = Math.min(lowest[name] ?? NaN, ms);
    frame = requestAnimationFrame(follow);
  });
  return { lowest: () => lowest, stop: () => cancelAnimationFrame(frame) };
}

/** A reward is delivered in a frame of the game, once. */
export async function expectRewarded(game: ExactGame): Promise<void> {
  const ads = startAds(game);
  const framesAtReward: number[] = [];
  ads.on('reward', () => void framesAtReward.push(game.deltas.length));
  let framesAtOpen = 0;
  const { outcome } = await ads.showRewarded('revive', {
    onOpen: () => (framesAtOpen = game.deltas.length),
  });
  expect(outcome).toBe('rewarded');
  await eventually(() => expect(framesAtReward).toHaveLength(1));
  expect(framesAtReward[0]).toBeGreaterThanOrEqual(framesAtOpen);
  await expectRunning(game);
  expect(framesAtReward).toHaveLength(1);
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
  await watchUntilAborted(ads, async () => {
    game.destroy();
    // Some engines end with their next frame.
    await frames(3);
    framesRun = game.deltas.length;
  });
  await frames(4);
  expect(game.deltas.length).toBe(framesRun);
  ads.destroy();
}

function startAds({ driver }: ExactGame): Ads {
  const service = createStubService();
  service.respond = () => picture(200);
  return createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    engine: driver,
  });
}

async function watchUntilAborted(ads: Ads, during?: () => void | Promise<void>): Promise<void> {
  const controller = new AbortController();
  const result = ads.showRewarded('revive', { signal: controller.signal });
  await once((done) => ads.once('start', done));
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
export const allowSound = (): Promise<void> => click(document.body);

/** WebKit plays a sound only during a press, so a game can't play one when it likes. */
export const playsSound = server.browser !== 'webkit';
