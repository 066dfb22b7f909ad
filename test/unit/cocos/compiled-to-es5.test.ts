import { expect, test } from 'vitest';
import { createTruewardComponent, type TruewardComponent } from '../../../src/cocos/cocos-ads.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { compileForCreator } from '../../support/compile-for-creator.ts';

test('A component compiled to loose ES5 extends the class of the script tag, which is not.', async () => {
  const engine = createCocosEngine();
  const code = await compileForCreator(`
    class GameAds extends Base {
      greeting = 'hello';
      onLoad() { super.onLoad(); this.loaded = true; }
    }
  `);
  expect(code).not.toMatch(/\bclass\b/);
  // oxlint-disable-next-line typescript/no-implied-eval -- A class in the language of the test is ES2022.
  const define = new Function('Base', `${code}\nreturn GameAds;`) as (
    base: unknown,
  ) => new () => TruewardComponent & { onLoad(): void; node: object };
  const GameAds = define(createTruewardComponent(engine));

  const made = new GameAds();
  made.onLoad();
  expect(made).toBeInstanceOf(GameAds);
  expect(made).toMatchObject({ greeting: 'hello', loaded: true });
  expect(engine.persistent).toEqual([made.node]);
  expect(made.ads.canShow('revive')).toBe(false);
});
