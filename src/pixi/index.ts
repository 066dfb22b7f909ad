/**
 * Ads for games made with PixiJS 8.
 *
 * @module trueward/pixi
 */
import {
  createEngineDriver,
  type EngineParts,
  type PauseFunction,
} from '../engine/create-engine-driver.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import { OptionError } from '../options.ts';

/** The parts of a PixiJS `Application` that the driver uses. */
export interface PixiApplication {
  readonly canvas: HTMLCanvasElement;
  /** Missing before `init()` and after `destroy()`. */
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
  audio?: NonNullable<EngineParts['audio']>;
  /** Pauses what moves without the engine, such as an animation library. */
  pause?: PauseFunction;
}

/**
 * Creates the engine driver for PixiJS 8. It stops the application's ticker and the tickers that all applications share.
 *
 * @param app - The application, after its `init()`.
 * @throws OptionError if the application has no ticker.
 *
 * @example
 * await app.init({ resizeTo: window });
 * const ads = createAds({ publishableKey, serviceUrl, engine: pixiDriver(app) });
 */
export function pixiDriver(app: PixiApplication, options: PixiDriverOptions = {}): EngineDriver {
  if (!app.ticker)
    throw new OptionError(
      'option_invalid',
      'pixiDriver() received an application without a ticker. Call it after `await app.init()`.',
    );
  const { canvas, ticker } = app;
  return createEngineDriver({
    ...options,
    canvas: () => canvas,
    pause: [
      (postpone) => {
        const running = findTickers(ticker).filter(({ started }) => started);
        for (const each of running) each.stop();
        // A ticker with `autoStart` starts itself when it receives a listener.
        for (const each of findTickers(ticker)) postpone(each, ['start', 'stop']);
        return () => {
          // The game may have destroyed the application during the ad.
          for (const each of running) if (each !== ticker || app.ticker === ticker) each.start();
        };
      },
      ...(options.pause ? [options.pause] : []),
    ],
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
