import { afterEach, beforeAll, describe, inject, it } from 'vitest';
// Before the engines, which keep the clocks that they find.
import './wall-clock.ts';
import { babylon } from './babylon.ts';
import {
  allowSound,
  expectDestroyable,
  expectExact,
  expectOwnPauseKept,
  expectRewarded,
} from './exact.ts';
import type { ExactGame } from './exact-game.ts';
import { pixi } from './pixi.ts';

/** What every game does around an ad. `npm test` runs only the first. */
const stories: [name: string, expectStory: (game: ExactGame) => Promise<void>][] = [
  ['stands still during a short ad', (game) => expectExact(game, 200)],
  ['stands still during a long ad', (game) => expectExact(game, 30_000)],
  ['receives its reward in a frame', expectRewarded],
  ['keeps its own pause', expectOwnPauseKept],
  ['may be destroyed during an ad', expectDestroyable],
];

beforeAll(allowSound);

describe.each([pixi, babylon])('$name', ({ start }) => {
  let game: ExactGame;
  afterEach(() => game.destroy());

  it.each(inject('full') ? stories : stories.slice(0, 1))('%s', async (_, expectStory) => {
    game = await start();
    await expectStory(game);
  });
});
