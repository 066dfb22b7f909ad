import { pixiDriver } from '../../../src/pixi/index.ts';
import type { PauseFunction } from '../../../src/engine/create-engine-driver.ts';
import { addCanvas, callOnce, type Engine, followKey } from './exact-game.ts';
import { importRecipe } from './recipes.ts';

export const pixi: Engine = {
  name: 'PixiJS',
  async start() {
    const { Application, Ticker } = await import('pixi.js');
    const { sound } = await import('@pixi/sound');
    const { default: gsap } = await import('gsap');
    const { pauseTweens } = await importRecipe<{ pauseTweens: PauseFunction }>('gsap');
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
    const tweened = { ms: 0 };
    const tween = gsap.to(tweened, { ms: 1_000_000, duration: 1_000, ease: 'none' });
    return {
      driver: pixiDriver(app, { audio: () => sound.context.audioContext, pause: pauseTweens }),
      canvas,
      deltas,
      audio: sound.context.audioContext,
      clocks: () => ({ ...clocks, tween: tweened.ms }),
      isKeyDown: key.isDown,
      pause() {
        app.stop();
        Ticker.shared.stop();
        Ticker.system.stop();
        gsap.globalTimeline.pause();
      },
      resume() {
        app.start();
        Ticker.shared.start();
        Ticker.system.start();
        gsap.globalTimeline.resume();
      },
      destroy: callOnce(() => {
        key.stop();
        tween.kill();
        Ticker.shared.remove(onShared);
        Ticker.system.remove(onSystem);
        app.destroy(false);
      }),
    };
  },
};
