import type * as Phaser from 'phaser';
import { createAds } from '../../../src/create-ads.ts';
import { createCocosAds } from '../../../src/cocos/cocos-ads.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import type { AdsOptions } from '../../../src/options.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import type { Ads } from '../../../src/ads.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { bootGame, phaserVersions } from '../phaser/phaser-games.ts';

/** A running game with ads, in any engine. */
export interface GameWithAds {
  ads: Ads;
  canvas: HTMLCanvasElement;
  /** Number of frames that the game has run so far. The game must not run frames during an ad. */
  frames(): number;
  /** Input that reached the game's listeners since the last call. */
  takeInput(): string[];
  /** Adds a listener of the game's to its engine's event. Absent without an engine. */
  on?(event: 'pause' | 'resume', listener: () => void): void;
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

/** Listens the way a game without an engine does: for presses on the canvas, and for releases on the window. */
function listenToInput(canvas: HTMLCanvasElement): { takeInput(): string[]; stop(): void } {
  const log: string[] = [];
  const abortController = new AbortController();
  const { signal } = abortController;
  const logKey = ({ code, repeat, type }: KeyboardEvent) => {
    if (!repeat) log.push(`${type} ${code}`);
  };
  window.addEventListener('keydown', logKey, { signal });
  window.addEventListener('keyup', logKey, { signal });
  canvas.addEventListener('pointerdown', () => log.push('press'), { signal });
  window.addEventListener('pointerup', () => log.push('release'), { signal });
  window.addEventListener('pointercancel', () => log.push('release away'), { signal });
  window.addEventListener('click', () => log.push('click'), { signal });
  return { takeInput: () => log.splice(0), stop: () => abortController.abort() };
}

/** Starts a game with its own game loop, which the game's `EngineDriver` stops and restarts. */
const withoutEngine: Start = async (options) => {
  const canvas = addCanvas();
  const input = listenToInput(canvas);
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
    takeInput: input.takeInput,
    async end() {
      stop();
      input.stop();
      ads.destroy();
      canvas.remove();
    },
  };
};

const cocosInput: Record<string, string[]> = {
  MOUSE_DOWN: ['press'],
  MOUSE_UP: ['release', 'click'],
  'MOUSE_UP outside': ['release away'],
  TOUCH_START: ['press'],
  TOUCH_END: ['release', 'click'],
  'TOUCH_CANCEL outside': ['release away'],
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
    takeInput: () =>
      engine.input
        .splice(0)
        .flatMap(
          (event) =>
            cocosInput[event] ??
            event.replace('KEY_', 'key').replace(/^key[A-Z]+/, (name) => name.toLowerCase()),
        ),
    on: (event, listener) => void engine.game.on(`game_on_${event}`, listener),
    async end() {
      stop();
      ads.destroy();
      engine.destroy();
      canvas.remove();
    },
  };
};

/** Logs input, including clicks on a button that covers the whole game. */
function listenToPhaser(game: Phaser.Game, { add, input }: Phaser.Scene): () => string[] {
  const log: string[] = [];
  const { height, width } = game.scale;
  let clicked = false;
  add
    .zone(width / 2, height / 2, width, height)
    .setInteractive()
    .on('pointerup', () => (clicked = true));
  input.on('pointerdown', () => log.push('press'));
  input.on('pointerup', ({ x, y }: Phaser.Input.Pointer) => {
    const inside = x >= 0 && x < width && y >= 0 && y < height;
    log.push(inside ? 'release' : 'release away', ...(clicked ? ['click'] : []));
    clicked = false;
  });
  input.on('pointerupoutside', () => log.push('release outside'));
  const logKey = ({ code, repeat, type }: KeyboardEvent) => {
    if (!repeat) log.push(`${type} ${code}`);
  };
  input.keyboard?.on('keydown', logKey).on('keyup', logKey);
  return () => log.splice(0);
}

const withPhaser =
  (load: () => Promise<typeof Phaser>): Start =>
  async (options) => {
    const { end, game, scene } = await bootGame(await load(), { input: { touch: true } });
    let frames = 0;
    game.events.on('step', () => (frames += 1));
    return {
      ads: TruewardPlugin.install(game, options),
      canvas: game.canvas,
      frames: () => frames,
      takeInput: listenToPhaser(game, scene),
      on: (event, listener) => void game.events.on(event, listener),
      end,
    };
  };

/** One game per driver and per tested Phaser version. */
export const games: { name: string; start: Start }[] = [
  { name: 'no engine', start: withoutEngine },
  { name: 'Cocos Creator', start: withCocos },
  ...phaserVersions.map(({ load, version }) => ({
    name: `Phaser ${version}`,
    start: withPhaser(load),
  })),
];
