import { pixiDriver } from '../../../src/pixi/index.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';

export const pixi: Engine = {
  name: 'PixiJS',
  async start() {
    const { Application, Ticker } = await import('pixi.js');
    const { sound } = await import('@pixi/sound');
    const canvas = addCanvas();
    const app = new Application();
    await app.init({ canvas, width: 64, height: 48, preference: 'webgl' });
    const key = followKey();
    const deltas: number[] = [];
    const clocks = { ticker: 0, shared: 0, system: 0 };
    app.ticker.add(({ elapsedMS }: { elapsedMS: number }) => {
      deltas.push(elapsedMS);
      clocks.ticker += elapsedMS;
    });
    // Runs animated sprites.
    const onShared = ({ elapsedMS }: { elapsedMS: number }) => (clocks.shared += elapsedMS);
    Ticker.shared.add(onShared);
    const onSystem = ({ elapsedMS }: { elapsedMS: number }) => (clocks.system += elapsedMS);
    Ticker.system.add(onSystem);
    return {
      driver: pixiDriver(app, { audio: () => sound.context.audioContext }),
      canvas,
      deltas,
      audio: sound.context.audioContext,
      clocks: () => ({ ...clocks }),
      isKeyDown: key.isDown,
      pause() {
        app.stop();
        Ticker.shared.stop();
        Ticker.system.stop();
      },
      resume() {
        app.start();
        Ticker.shared.start();
        Ticker.system.start();
      },
      destroy: callOnce(() => {
        key.stop();
        Ticker.shared.remove(onShared);
        Ticker.system.remove(onSystem);
        app.destroy(false);
      }),
    };
  },
};
