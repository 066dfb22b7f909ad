import { expect, test } from 'vitest';
import { createTruewardComponent, type TruewardComponent } from '../../../src/cocos/cocos-ads.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { compileForCreator } from '../../support/compile-for-creator.ts';

test('a component compiled to loose ES5 can extend a native class', async () => {
  const engine = createCocosEngine();
  const code = await compileForCreator(`
    class GameAds extends Base {
      greeting = 'hello';
      onLoad() { super.onLoad(); this.loaded = true; }
    }
  `);
  expect(code).not.toMatch(/\bclass\b/);
  // oxlint-disable-next-line typescript/no-implied-eval -- A class in the test's own source would be ES2022.
  const define = new Function('Base', `${code}\nreturn GameAds;`) as (
    base: unknown,
  ) => new () => TruewardComponent & { onLoad(): void; node: object };
  const GameAds = define(createTruewardComponent(engine));

  const component = new GameAds();
  component.onLoad();
  expect(component).toBeInstanceOf(GameAds);
  expect(component).toMatchObject({ greeting: 'hello', loaded: true });
  expect(engine.persistent).toEqual([component.node]);
  expect(component.ads.canShow('revive')).toBe(false);
});
