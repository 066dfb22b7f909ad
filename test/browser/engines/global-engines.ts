import { expect } from 'vitest';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { eventually } from '../../support/eventually.ts';
import { callOnce, type Engine, followKey } from './exact-game.ts';
import { importRecipe } from './recipes.ts';

// Engines of which a page can run only one game: their state is the module's.

interface LittleJsGame {
  deltas: number[];
  body: { pos: { x: number } };
  canvas: HTMLCanvasElement;
}

let littleJsGame: Promise<LittleJsGame> | undefined;

/** LittleJS can't be started again in a page. */
async function startLittleJs(): Promise<LittleJsGame> {
  const library = await import('littlejsengine');
  library.setShowSplashScreen(false);
  library.setCanvasFixedSize(library.vec2(64, 48));
  const deltas: number[] = [];
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  let body: LittleJsGame['body'] | undefined;
  await library.engineInit(
    () => {
      // Per frame, and a frame is a sixtieth of a second.
      body = new library.EngineObject(library.vec2(0, 0));
      Object.assign(body as object, { velocity: library.vec2(1_000 / 60, 0), damping: 1 });
    },
    () => deltas.push(1_000 / 60),
    () => {},
    () => {},
    () => {},
    [],
    root,
  );
  library.mainCanvas.tabIndex = 0;
  if (!body) throw new Error('LittleJS has not called gameInit().');
  return { deltas, body, canvas: library.mainCanvas };
}

const littleJs: Engine = {
  name: 'LittleJS',
  async start() {
    littleJsGame ??= startLittleJs();
    const library = await import('littlejsengine');
    const { littleDriver } = await importRecipe<{ littleDriver(): EngineDriver }>('littlejs');
    const { body, canvas, deltas } = await littleJsGame;
    library.setPaused(false);
    return {
      driver: littleDriver(),
      canvas,
      deltas,
      audio: library.audioContext,
      clocks: () => ({ body: body.pos.x }),
      isKeyDown: () => library.keyIsDown('ArrowRight'),
      pause: () => library.setPaused(true),
      resume: () => library.setPaused(false),
      destroy: () => library.setPaused(true),
    };
  },
};

let melonJsCanvas: HTMLCanvasElement | undefined;

const melonJs: Engine = {
  name: 'melonJS',
  async start() {
    const library = await import('melonjs');
    const { Howler } = await import('howler');
    const { melonDriver } = await importRecipe<{
      melonDriver(canvas: HTMLCanvasElement): EngineDriver;
    }>('melonjs');
    if (!melonJsCanvas) {
      const root = document.createElement('div');
      document.body.replaceChildren(root);
      await new Promise<void>((resolve) => library.device.onReady(() => resolve()));
      library.video.init(64, 48, { parent: root, renderer: library.video.CANVAS });
      melonJsCanvas = library.video.renderer.getCanvas() as HTMLCanvasElement;
      melonJsCanvas.tabIndex = 0;
    }
    const canvas = melonJsCanvas;
    // Creates its context.
    Howler.volume(1);
    // Otherwise it suspends its context after 30 s without a sound.
    Howler.autoSuspend = false;
    const key = followKey();
    const deltas: number[] = [];
    const clocks = { entity: 0, tween: 0 };
    class Body extends library.Renderable {
      constructor() {
        super(0, 0, 1, 1);
        this.alwaysUpdate = true;
      }
      update(ms: number): boolean {
        deltas.push(ms);
        clocks.entity += ms;
        return true;
      }
      draw(): void {}
    }
    const entity = new Body();
    library.game.world.addChild(entity);
    new library.Tween(clocks).to({ tween: 1_000_000 }, { duration: 1_000_000, autoStart: true });
    // A tween that is younger than an ad can't step back by the ad.
    await eventually(() => expect(clocks.tween).toBeGreaterThan(500));
    return {
      driver: melonDriver(canvas),
      // Its tweens count each update that makes up for a slow frame, at most ten of them.
      aheadMs: 10_000 / 60,
      canvas,
      deltas,
      audio: Howler.ctx,
      clocks: () => ({ ...clocks }),
      isKeyDown: key.isDown,
      pause: () => library.state.pause(),
      resume: () => library.state.resume(),
      destroy: callOnce(() => {
        key.stop();
        library.game.world.removeChildNow(entity);
      }),
    };
  },
};

/** One game per engine. */
export const globalEngines = [littleJs, melonJs];
