/**
 * Ads for games made with Babylon.js.
 *
 * @module trueward/babylon
 */
import {
  createEngineDriver,
  type EngineParts,
  type PauseFunction,
} from '../engine/create-engine-driver.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';

/** The parts of a Babylon.js engine that the driver uses. */
export interface BabylonEngine {
  readonly isDisposed: boolean;
  readonly activeRenderLoops: readonly (() => void)[];
  readonly onBeginFrameObservable: BabylonObservable;
  readonly performanceMonitor: { disable(): void; enable(): void };
  readonly scenes: readonly { resetLastAnimationTimeFrame(): void }[];
  getRenderingCanvas(): HTMLCanvasElement | null;
  runRenderLoop(render: () => void): void;
  stopRenderLoop(render?: () => void): void;
}

/** A Babylon.js `Observable`. */
export interface BabylonObservable {
  add(callback: () => void): unknown;
  removeCallback(callback: () => void): unknown;
}

/** Options of {@link babylonDriver}. */
export interface BabylonDriverOptions {
  /**
   * The contexts that play the game's sounds: what you pass to `CreateAudioEngineAsync({ audioContext })`. Default: none.
   */
  audio?: NonNullable<EngineParts['audio']>;
  /** Pauses what moves without the engine, such as an animation library. */
  pause?: PauseFunction;
}

/**
 * Creates the engine driver for Babylon.js. It stops the render loops, and with them physics, animations and particles.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: babylonDriver(engine) });
 */
export function babylonDriver(
  engine: BabylonEngine,
  options: BabylonDriverOptions = {},
): EngineDriver {
  return createEngineDriver({
    ...options,
    canvas: () => engine.getRenderingCanvas(),
    pause: [
      (postpone) => {
        const loops = engine.activeRenderLoops.slice();
        engine.stopRenderLoop();
        postpone(engine, ['runRenderLoop', 'stopRenderLoop']);
        return () => {
          // The game may have disposed of the engine during the ad.
          if (engine.isDisposed) return;
          // Both clocks forget the last frame, so that the next one's delta excludes the ad.
          engine.performanceMonitor.disable();
          engine.performanceMonitor.enable();
          for (const scene of engine.scenes) scene.resetLastAnimationTimeFrame();
          for (const loop of loops) engine.runRenderLoop(loop);
        };
      },
      ...(options.pause ? [options.pause] : []),
    ],
    onFrame(callback) {
      engine.onBeginFrameObservable.add(callback);
      return () => engine.onBeginFrameObservable.removeCallback(callback);
    },
  });
}
