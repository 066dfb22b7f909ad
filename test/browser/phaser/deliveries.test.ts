import type * as Phaser from 'phaser';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callInNextFrame } from '../../../src/engine/next-frame.ts';
import { phaserDriver } from '../../../src/phaser/phaser-driver.ts';
import { bootGame, frames, nextStep, phaserVersions } from './phaser-games.ts';

describe.each(phaserVersions)('deliveries to a game in Phaser $version', ({ load }) => {
  let library: typeof Phaser;
  let game: Phaser.Game;
  let end: () => Promise<void>;
  let idleListeners: number;
  let step = 0;
  let isRendering = false;
  let deliveries: { name: number; step: number; isRendering: boolean }[];

  beforeAll(async () => {
    library = await load();
  });
  beforeEach(async () => {
    ({ game, end } = await bootGame(library));
    [step, isRendering, deliveries] = [0, false, []];
    game.events.on('prestep', () => (step += 1));
    game.events.on('prerender', () => (isRendering = true));
    game.events.on('postrender', () => (isRendering = false));
    idleListeners = game.events.listenerCount('step');
  });
  afterEach(async () => {
    await end();
  });

  const push = (count: number): void => {
    for (let name = 0; name < count; name += 1)
      callInNextFrame(phaserDriver(game), () => deliveries.push({ name, step, isRendering }));
  };
  const names = () => deliveries.map(({ name }) => name);
  const firstTen = Array.from({ length: 10 }, (_, name) => name);
  async function waitForDeliveries(count: number): Promise<void> {
    while (deliveries.length < count) await nextStep(game);
    await nextStep(game);
  }

  it('run in order, during a game step', async () => {
    push(10);
    await waitForDeliveries(10);
    expect(names()).toEqual(firstTen);
    expect(deliveries.some((delivery) => delivery.isRendering)).toBe(false);
    expect(game.events.listenerCount('step')).toBe(idleListeners);
  });

  it('wait until a paused game resumes', async () => {
    game.pause();
    push(10);
    await frames(5);
    expect(deliveries).toEqual([]);
    game.resume();
    await waitForDeliveries(10);
    expect(names()).toEqual(firstTen);
  });

  it('wait until a sleeping game wakes up', async () => {
    game.loop.sleep();
    push(10);
    await frames(5);
    expect(deliveries).toEqual([]);
    game.loop.wake();
    await waitForDeliveries(10);
    expect(names()).toEqual(firstTen);
  });
});
