import { inject } from 'vitest';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';
import { importRecipe } from './recipes.ts';

/** The parts of the engine that the game uses. The package is too large to be installed with the others. */
interface Library {
  Application: new (canvas: HTMLCanvasElement) => App;
  Entity: new (name: string) => Entity;
}
interface App {
  autoRender: boolean;
  timeScale: number;
  root: { addChild(child: Entity): void };
  systems: { sound?: { context?: AudioContext } };
  start(): void;
  destroy(): void;
  on(event: 'update', callback: (seconds: number) => void): void;
}
interface Entity {
  translate(x: number, y: number, z: number): void;
  getPosition(): { x: number };
}

const playCanvas: Engine = {
  name: 'PlayCanvas',
  async start() {
    const { Application, Entity } = (await import(
      /* @vite-ignore */ inject('playCanvas')
    )) as Library;
    const { playcanvasDriver } = await importRecipe<{
      playcanvasDriver(app: unknown): EngineDriver;
    }>('playcanvas');
    const canvas = addCanvas();
    const app = new Application(canvas);
    const body = new Entity('body');
    app.root.addChild(body);
    const key = followKey();
    const deltas: number[] = [];
    app.on('update', (seconds) => {
      // The engine's usual pause runs updates without time.
      if (seconds === 0) return;
      deltas.push(seconds * 1_000);
      body.translate(seconds * 1_000, 0, 0);
    });
    app.start();
    return {
      driver: playcanvasDriver(app),
      canvas,
      deltas,
      audio: app.systems.sound?.context,
      clocks: () => ({ body: body.getPosition().x }),
      isKeyDown: key.isDown,
      pause: () => (app.timeScale = 0),
      resume: () => (app.timeScale = 1),
      destroy: callOnce(() => {
        key.stop();
        app.destroy();
      }),
    };
  },
};

/** Runs only where the package can be found. */
export const playCanvasGames = inject('playCanvas') ? [playCanvas] : [];
