import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';
import { importRecipe } from './recipes.ts';

export const playCanvas: Engine = {
  name: 'PlayCanvas',
  async start() {
    const { Application, Entity } = await import('playcanvas');
    const { playcanvasDriver } = await importRecipe<{
      playcanvasDriver(app: unknown): EngineDriver;
    }>('playcanvas');
    const canvas = addCanvas();
    const app = new Application(canvas);
    const body = new Entity('body');
    app.root.addChild(body);
    const key = followKey();
    const deltas: number[] = [];
    app.on('update', (seconds: number) => {
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
