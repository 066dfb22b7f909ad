import type * as Phaser from 'phaser';
import { createAdsOptions, contenders, type Contender } from './contenders.ts';
import { resetTimers, timers } from './count-timers.ts';
import { measureDeliveries, fillStorage, waitUntilEmpty } from './drain.ts';
import type * as SdkScript from './sdk.ts';

declare global {
  var Sdk: typeof SdkScript;
  interface Window {
    Phaser: typeof Phaser;
    bench: typeof bench;
  }
}

class Play extends window.Phaser.Scene {
  create(): void {
    for (let index = 0; index < 30; index += 1) {
      const box = this.add.rectangle(index * 6, 10, 5, 5, 0xffffff);
      this.tweens.add({ targets: box, y: 110, duration: 900 + index, yoyo: true, repeat: -1 });
    }
  }
}

/** Starts a small game. Resolves after its first step. */
function startGame(): Promise<Phaser.Game> {
  return new Promise((resolve) => {
    const game = new window.Phaser.Game({
      type: window.Phaser.CANVAS,
      width: 200,
      height: 120,
      banner: false,
      audio: { noAudio: true },
      scene: Play,
    });
    game.events.once('poststep', () => resolve(game));
  });
}

let frameTimeMs = performance.now();
/** How long to wait for a contender's startup work to finish, in milliseconds. */
const settleMs = 800;

/** Steps the game manually through `count` frames, without waiting between them. */
function step(game: Phaser.Game, count: number): void {
  for (let index = 0; index < count; index += 1) game.step((frameTimeMs += 1000 / 60), 1000 / 60);
}

let currentGame: Phaser.Game | undefined;

/** Starts a game with a running loop, for `drain` and `playAlone`. */
async function boot(): Promise<void> {
  currentGame = await startGame();
}

function requireGame(): Phaser.Game {
  if (!currentGame) throw new Error('Call boot() first.');
  return currentGame;
}

/** Starts a game with the contender, stops the game's loop, and warms the game up. */
async function prepare(contender: Contender): Promise<void> {
  currentGame = await startGame();
  currentGame.loop.sleep();
  contenders[contender](currentGame);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  step(currentGame, 500);
  resetTimers();
}

/**
 * Alternates between blocks of steps without and with the contender. Returns each block's time per step, in
 * microseconds.
 */
async function compare(
  contender: Contender,
  pairs: number,
  steps: number,
): Promise<{ without: number[]; with: number[] }> {
  const game = await startGame();
  game.loop.sleep();
  const enable = contenders[contender](game);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const measureBlock = (isEnabled: boolean): number => {
    enable(isEnabled);
    const startedAtMs = performance.now();
    step(game, steps);
    return ((performance.now() - startedAtMs) * 1000) / steps;
  };
  step(game, 1000);
  const samples = { without: [] as number[], with: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const isEnabled of pair % 2 === 0 ? [false, true] : [true, false])
      samples[isEnabled ? 'with' : 'without'].push(measureBlock(isEnabled));
  }
  return samples;
}

/**
 * Pauses and resumes the game `count` times. Returns the first frame delta after each resume, and the same number of
 * ordinary frame deltas, in milliseconds.
 */
async function measureFirstDeltas(count: number): Promise<{ first: number[]; ordinary: number[] }> {
  const game = await startGame();
  const driver = Sdk.phaserDriver(game);
  const firstDeltasMs: number[] = [];
  const ordinary: number[] = [];
  const waitForDelta = () =>
    new Promise<number>((resolve) => {
      game.events.once('step', (_time: number, delta: number) => resolve(delta));
    });
  for (let index = 0; index < count; index += 1) {
    const release = driver.hold();
    await new Promise((resolve) => setTimeout(resolve, 200 + (index % 5) * 150));
    const delta = waitForDelta();
    release();
    firstDeltasMs.push(await delta);
    await new Promise((resolve) => setTimeout(resolve, 200));
    ordinary.push(await waitForDelta());
  }
  return { first: firstDeltasMs, ordinary };
}

/** Runs the game while the outbox drains and this many rewards are delivered. */
async function drain(due: number): Promise<{
  ms: number;
  frames: number[];
  control: number[];
  rewards: number;
}> {
  const game = requireGame();
  const deliveries = measureDeliveries(game);
  const startedAtMs = performance.now();
  let rewards = 0;
  const ads = Sdk.TruewardPlugin.install(game, createAdsOptions());
  ads.on('reward', () => {
    rewards += 1;
  });
  await waitUntilEmpty(ads, () => rewards >= due);
  return {
    ms: performance.now() - startedAtMs,
    frames: deliveries.costs,
    control: deliveries.control,
    rewards,
  };
}

/** Runs the same game for the same time without the SDK, as a baseline. */
async function playAlone(ms: number): Promise<void> {
  requireGame();
  await new Promise((resolve) => setTimeout(resolve, ms));
}

const bench = {
  boot,
  prepare,
  step: (count: number) => currentGame && step(currentGame, count),
  timers: () => ({ ...timers }),
  compare,
  measureFirstDeltas,
  fill: (events: number, rewards: number) => fillStorage(createAdsOptions(), events, rewards),
  drain,
  playAlone,
};
window.bench = bench;
