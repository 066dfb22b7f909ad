import {
  type Ads,
  createAds,
  createEngineDriver,
  type EngineDriver,
  OptionError,
} from '../index.ts';
import { readAttributes } from './read-attributes.ts';

/** Called with the `Ads` instance that the tag has started. */
export type Command = (ads: Ads) => void;

declare global {
  /** Everything that the script tags export. Each file adds its own exports. */
  interface TruewardGlobal {
    createAds: typeof createAds;
    createEngineDriver: typeof createEngineDriver;
    OptionError: typeof OptionError;
    /**
     * Commands to run once the tag has started its ads. Until then, the queue is an array; after that, it is an object
     * that runs commands immediately.
     */
    queue: Command[] | { push(...commands: Command[]): void };
  }
  /**
   * The only global that the script tags define. A page may define it first, with a `queue`, before the scripts have
   * loaded.
   */
  var Trueward: TruewardGlobal;
}

/**
 * Adds a file's exports to the global object. Existing exports are not replaced, because games may be using a class
 * from an earlier copy of the file.
 */
export function extendGlobal(newExports: Partial<TruewardGlobal>): TruewardGlobal {
  const existingGlobal = globalThis.Trueward as TruewardGlobal | undefined;
  // This global may also be an element with the id `Trueward`.
  const target: Partial<TruewardGlobal> = existingGlobal?.queue ? existingGlobal : { queue: [] };
  const allExports = Object.assign(target, { ...newExports, ...target });
  return (globalThis.Trueward = allExports as TruewardGlobal);
}

function runCommands(ads: Ads, commands: Command[]): void {
  for (const command of commands) {
    try {
      command(ads);
    } catch (error) {
      // A command that throws must not prevent the next one from running.
      reportError(error);
    }
  }
}

/**
 * Defines the SDK's global, and starts the SDK if the tag has a key or a portal.
 *
 * @param createEngine - Creates the engine driver. Default: the driver for pages without a supported engine.
 * @throws OptionError for invalid attributes.
 */
export function startTag(script: Element | null, createEngine?: () => EngineDriver): void {
  const trueward = extendGlobal({ createAds, createEngineDriver, OptionError });
  const { queue } = trueward;
  // When the SDK has started, the queue is no longer an array. On a page with two tags, the SDK is started only once.
  if (!Array.isArray(queue)) return;
  if (!(script instanceof HTMLScriptElement)) return;
  if (!['key', 'portal'].some((name) => Object.hasOwn(script.dataset, name))) return;
  const engine = createEngine?.();
  const ads = createAds({ ...readAttributes({ ...script.dataset }), ...(engine && { engine }) });
  trueward.queue = { push: (...commands) => runCommands(ads, commands) };
  runCommands(ads, queue);
}
