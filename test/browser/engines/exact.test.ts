import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
// Before the engines, which keep the clocks that they find.
import './wall-clock.ts';
import type { FunctionComponent } from 'react';
import { Loop } from '../../../demo/examples/canvas-game.ts';
import type { Ads } from '../../../src/ads.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService } from '../../support/stub-service.ts';
import { babylon } from './babylon.ts';
import {
  allowSound,
  expectDestroyable,
  expectExact,
  expectOwnPauseKept,
  expectRewarded,
} from './exact.ts';
import type { ExactGame } from './exact-game.ts';
import { globalEngines } from './global-engines.ts';
import { pixi } from './pixi.ts';
import { playCanvas } from './playcanvas.ts';
import { recipeGames } from './recipe-games.ts';
import { importRecipe, recipes } from './recipes.ts';

/** What every game does around an ad. `npm test` runs only the first. */
const stories: [name: string, expectStory: (game: ExactGame) => Promise<void>][] = [
  // Some engines ignore gaps of more than 200 ms.
  ['stands still during an ad of 100 ms', (game) => expectExact(game, 100)],
  ['stands still during an ad of 200 ms', (game) => expectExact(game, 200)],
  ['stands still during an ad of 30 s', (game) => expectExact(game, 30_000)],
  ['receives its reward in a frame', expectRewarded],
  ['keeps its own pause', expectOwnPauseKept],
  ['may be destroyed during an ad', expectDestroyable],
];

beforeAll(allowSound);

const engines = [pixi, babylon, ...recipeGames, playCanvas, ...globalEngines];

describe.each(engines)('$name', ({ start }) => {
  let game: ExactGame | undefined;
  afterEach(() => game?.destroy());

  it.each(inject('full') ? stories : stories.slice(0, 1))('%s', async (_, expectStory) => {
    game = await start();
    await expectStory(game);
  });
});

it('no recipe has more than 25 lines', () => {
  expect(recipes.size).toBe(9);
  expect([...recipes].filter(([, lines]) => lines.length > 25)).toEqual([]);
});

it('the React recipe shows ads in a component, which StrictMode mounts twice', async () => {
  const { createElement, StrictMode } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const { GameCanvas } = await importRecipe<{
    GameCanvas: FunctionComponent<Record<string, unknown>>;
  }>('react');
  const created: Ads[] = [];
  let frames = 0;
  const startGame = (canvas: HTMLCanvasElement) => {
    const loop = new Loop(canvas, () => (frames += 1));
    return { driver: loop.driver, end: () => (loop.running = false) };
  };
  const options = {
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: createStubService().fetch,
  };
  const place = document.createElement('div');
  document.body.replaceChildren(place);
  const root = createRoot(place);
  const onAds = (ads: Ads) => created.push(ads);
  const component = createElement(GameCanvas, { startGame, options, onAds });
  root.render(createElement(StrictMode, null, component));
  await eventually(() => expect([created.length, frames > 2]).toEqual([2, true]));
  const [first, last] = created;
  expect((await first?.showRewarded('revive'))?.outcome).toBe('aborted');
  let framesAtOpen = 0;
  let framesAtClose = 0;
  const result = await last?.showRewarded('revive', {
    onOpen: () => (framesAtOpen = frames),
    onClose: () => (framesAtClose = frames),
  });
  expect(result?.outcome).toBe('rewarded');
  expect(framesAtClose).toBe(framesAtOpen);
  await eventually(() => expect(frames).toBeGreaterThan(framesAtClose));
  root.unmount();
  expect((await last?.showRewarded('revive'))?.outcome).toBe('aborted');
});
