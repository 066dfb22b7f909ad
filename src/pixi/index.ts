/**
 * Ads for games made with PixiJS 8.
 *
 * @module trueward/pixi
 */
import { createEngineDriver, type EngineParts } from '../engine/create-engine-driver.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';

/** The parts of a PixiJS `Application` that the driver uses. */
export interface PixiApplication {
  readonly canvas: HTMLCanvasElement;
  readonly ticker: PixiTicker;
}

/** The parts of a PixiJS `Ticker` that the driver uses. */
export interface PixiTicker {
  autoStart: boolean;
  readonly started: boolean;
  start(): void;
  stop(): void;
  add(callback: () => void): unknown;
  remove(callback: () => void): unknown;
}

/** Options of {@link pixiDriver}. */
export interface PixiDriverOptions {
  /**
   * The contexts that play the game's sounds, for example `() => sound.context.audioContext` with `@pixi/sound`. Default:
   * none.
   */
  audio?: EngineParts['audio'];
}

/**
 * Creates the engine driver for PixiJS 8. It stops the application's ticker and the tickers that all applications share.
 *
 * @example
 * const ads = createAds({ publishableKey, serviceUrl, engine: pixiDriver(app) });
 */
export function pixiDriver(app: PixiApplication, options: PixiDriverOptions = {}): EngineDriver {
  const { ticker } = app;
  return createEngineDriver({
    ...options,
    // A destroyed application has no canvas.
    canvas: () => app.canvas ?? null,
    pause(postpone) {
      const running = findTickers(ticker).filter(({ started }) => started);
      for (const each of running) each.stop();
      // A ticker with `autoStart` starts itself when it receives a listener.
      for (const each of findTickers(ticker)) postpone(each, ['start', 'stop']);
      return () => running.forEach((each) => each.start());
    },
    onFrame(callback) {
      // The game may have stopped its ticker, which a new listener must not start.
      const { autoStart } = ticker;
      ticker.autoStart = false;
      ticker.add(callback);
      ticker.autoStart = autoStart;
      return () => ticker.remove(callback);
    },
  });
}

/** The application's ticker, and those that run animated sprites and the engine's own work. */
function findTickers(ticker: PixiTicker): PixiTicker[] {
  const { shared, system } = ticker.constructor as { shared?: PixiTicker; system?: PixiTicker };
  return [ticker, shared, system].filter(
    (each, index, all) => each !== undefined && all.indexOf(each) === index,
  ) as PixiTicker[];
}
