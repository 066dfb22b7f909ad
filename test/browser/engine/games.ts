import type * as Phaser from 'phaser';
import { createAds } from '../../../src/create-ads.ts';
import { createCocosAds } from '../../../src/cocos/create-cocos-ads.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import type { AdsOptions } from '../../../src/options.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import type { GameAds } from '../../../src/unavailable-ads.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { bootGame, phaserVersions } from '../phaser/phaser-games.ts';

/** A running game with ads, whatever its engine. */
export interface GameWithAds {
  ads: GameAds;
  canvas: HTMLCanvasElement;
  /** Frames of the game so far; an ad must not let any pass. */
  frames(): number;
  end(): Promise<void>;
}

type Start = (options: AdsOptions) => Promise<GameWithAds>;

function addCanvas(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  document.body.append(canvas);
  return canvas;
}

function eachFrame(callback: () => void): () => void {
  let frame = requestAnimationFrame(function next() {
    frame = requestAnimationFrame(next);
    callback();
  });
  return () => cancelAnimationFrame(frame);
}

/** A loop of the game's own, which it stops with the calls of `EngineDriver`. */
const withoutEngine: Start = async (options) => {
  const canvas = addCanvas();
  let frames = 0;
  let running = true;
  const stop = eachFrame(() => (frames += Number(running)));
  const driver = noEngine(canvas);
  const ads = createAds({
    ...options,
    engine: {
      ...driver,
      hold() {
        const release = driver.hold();
        running = false;
        return () => {
          running = true;
          release();
        };
      },
    },
  });
  return {
    ads,
    canvas,
    frames: () => frames,
    async end() {
      stop();
      ads.destroy();
      canvas.remove();
    },
  };
};

const withCocos: Start = async (options) => {
  const canvas = addCanvas();
  const engine = createCocosEngine(canvas);
  let frames = 0;
  engine.onUpdate = () => (frames += 1);
  const stop = eachFrame(() => engine.tick());
  const ads = createCocosAds(engine, options);
  return {
    ads,
    canvas,
    frames: () => frames,
    async end() {
      stop();
      ads.destroy();
      engine.destroy();
      canvas.remove();
    },
  };
};

const withPhaser =
  (load: () => Promise<typeof Phaser>): Start =>
  async (options) => {
    const { end, game } = await bootGame(await load());
    let frames = 0;
    game.events.on('step', () => (frames += 1));
    return {
      ads: TruewardPlugin.install(game, options),
      canvas: game.canvas,
      frames: () => frames,
      end,
    };
  };

/** One for each driver and each version of Phaser that is tested. */
export const games: { name: string; start: Start }[] = [
  { name: 'no engine', start: withoutEngine },
  { name: 'Cocos Creator', start: withCocos },
  ...phaserVersions.map(({ load, version }) => ({
    name: `Phaser ${version}`,
    start: withPhaser(load),
  })),
];
