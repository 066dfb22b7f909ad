import type * as Phaser from 'phaser';
import type { AdsListeners, Banner, ShowOptions } from '../ads.ts';
import type { ShowResult } from '../outcome.ts';
import { linkSignals } from '../platform/clock.ts';
import type { RewardedButtonOptions } from './rewarded-button.ts';
import { TruewardPlugin } from './trueward-plugin.ts';

/**
 * Calls `end` once, when the scene shuts down or is destroyed. (`game.destroy()` destroys scenes without a shutdown.)
 * The returned function calls `end` immediately.
 *
 * The listeners are added per call and not in the plugin's `boot()`, because `boot()` runs only once per scene, but a
 * scene can restart and shut down many times.
 */
export function callAtSceneEnd({ sys }: Phaser.Scene, end: () => void): () => void {
  // A destroyed scene has no emitter, so keep a reference.
  const { events } = sys;
  let ended = false;
  function onSceneEnd(): void {
    events.off('shutdown', onSceneEnd);
    events.off('destroy', onSceneEnd);
    if (ended) return;
    ended = true;
    end();
  }
  events.once('shutdown', onSceneEnd);
  events.once('destroy', onSceneEnd);
  return onSceneEnd;
}

/**
 * The methods of {@link TruewardPlugin} that need cleanup, scoped to one scene. When the scene shuts down, restarts or
 * is destroyed, its handlers and buttons are removed and its ads are aborted. The scene plugin has no state of its own
 * and requires the game's `TruewardPlugin`.
 *
 * @example
 * plugins: {
 *   global: [{ key: 'trueward', plugin: TruewardPlugin, mapping: 'ads', start: true, data }],
 *   scene: [{ key: 'truewardScene', plugin: TruewardScenePlugin, mapping: 'sceneAds' }],
 * }
 * // in a scene
 * this.sceneAds.on('reward', this.addCoins, this);
 */
export class TruewardScenePlugin {
  readonly #scene: Phaser.Scene;
  readonly #manager: Phaser.Plugins.PluginManager;

  constructor(scene: Phaser.Scene, pluginManager: Phaser.Plugins.PluginManager) {
    this.#scene = scene;
    this.#manager = pluginManager;
  }

  /** Required by Phaser. Does nothing. */
  boot(): void {}

  /** See {@link TruewardPlugin.on}. The handler is removed when the scene ends. */
  on<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context: unknown = this.#scene,
  ): () => void {
    return callAtSceneEnd(this.#scene, this.#ads().on(event, handler, context));
  }

  /** See {@link TruewardPlugin.once}. The handler is removed when the scene ends. */
  once<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context: unknown = this.#scene,
  ): () => void {
    return callAtSceneEnd(this.#scene, this.#ads().once(event, handler, context));
  }

  /** See {@link TruewardPlugin.showRewarded}. If the scene ends, the ad ends with `aborted`. */
  showRewarded(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#show(options, (scopedOptions) =>
      this.#ads().showRewarded(placement, scopedOptions),
    );
  }

  /** See {@link TruewardPlugin.showInterstitial}. If the scene ends, the ad ends with `aborted`. */
  showInterstitial(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#show(options, (scopedOptions) =>
      this.#ads().showInterstitial(placement, scopedOptions),
    );
  }

  /** See {@link TruewardPlugin.mountBanner}. The banner is removed when the scene ends. */
  mountBanner(placement: string, element: HTMLElement): Banner {
    const banner = this.#ads().mountBanner(placement, element);
    return { ...banner, remove: callAtSceneEnd(this.#scene, () => banner.remove()) };
  }

  /** See {@link TruewardPlugin.addRewardedButton}. */
  addRewardedButton(options: RewardedButtonOptions): Phaser.GameObjects.Container {
    return this.#ads().addRewardedButton(this.#scene, options);
  }

  /** Looks up the plugin on each call, because `TruewardPlugin.install()` may run after scenes have started. */
  #ads(): TruewardPlugin {
    const ads = TruewardPlugin.of(this.#manager);
    if (ads) return ads;
    throw new Error(
      'trueward: the scene plugin needs TruewardPlugin. Add it to `plugins.global`, or call TruewardPlugin.install(game, data).',
    );
  }

  async #show(
    options: ShowOptions = {},
    show: (options: ShowOptions) => Promise<ShowResult>,
  ): Promise<ShowResult> {
    const call = linkSignals(options.signal);
    const stopWatching = callAtSceneEnd(this.#scene, () => call.abort());
    const result = await show({ ...options, signal: call.signal });
    call.abort();
    stopWatching();
    return result;
  }
}
