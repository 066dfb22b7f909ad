import type * as Phaser from 'phaser';
import type {
  Ads,
  AdsListeners,
  Banner,
  Diagnostics,
  PortalPage,
  PreloadOptions,
  SetUserOptions,
  ShowOptions,
} from '../ads.ts';
import type { ConsentOptions, RequestOptions, Simulation, UserOptions } from '../options.ts';
import type { Availability, RewardReport, ShowResult } from '../outcome.ts';
import { linkSignals } from '../platform/clock.ts';
import type { Wallet } from '../wallet/wallet.ts';
import type { RewardedButtonOptions } from './rewarded-button.ts';
import type { WalletTextOptions } from './wallet-text.ts';

/** The ads of the whole game: `TruewardPlugin`. */
interface GameAds extends Ads {
  addRewardedButton(
    scene: Phaser.Scene,
    options: RewardedButtonOptions,
  ): Phaser.GameObjects.Container;
  addWalletText(scene: Phaser.Scene, options: WalletTextOptions): Phaser.GameObjects.Text;
}

/** Each game's plugin, by the game's plugin manager. */
export const gamePlugins = new WeakMap<Phaser.Plugins.PluginManager, GameAds>();

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

/** A handler that the scene has added. */
interface SceneHandler {
  event: keyof AdsListeners;
  handler: unknown;
  context: unknown;
  remove(): void;
}

/**
 * The ads of one scene: `this.ads`. It has every method of {@link Ads} except `destroy()`. When the scene shuts down,
 * restarts or is destroyed, its handlers, buttons and banners are removed and its ads are aborted. So a handler that
 * `create()` adds is never called twice for one event. `this.gameAds` is the same for the whole game.
 *
 * @example
 * this.ads.on('reward', this.addCoins, this);
 */
export class SceneAds implements Omit<Ads, 'destroy'> {
  readonly #scene: Phaser.Scene;
  readonly #manager: Phaser.Plugins.PluginManager;
  readonly #handlers = new Set<SceneHandler>();

  constructor(scene: Phaser.Scene, pluginManager: Phaser.Plugins.PluginManager) {
    this.#scene = scene;
    this.#manager = pluginManager;
  }

  /** Required by Phaser. Does nothing. */
  boot(): void {}

  /** See {@link Ads.on}. The context is the scene by default. The handler is removed when the scene ends. */
  on<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context: unknown = this.#scene,
  ): () => void {
    return this.#add(event, handler, context, this.#ads().on(event, handler, context));
  }

  /** See {@link Ads.once}. The context is the scene by default. The handler is removed when the scene ends. */
  once<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context: unknown = this.#scene,
  ): () => void {
    return this.#add(event, handler, context, this.#ads().once(event, handler, context));
  }

  /** See {@link Ads.off}. Removes only handlers that this scene has added. */
  off<Name extends keyof AdsListeners>(
    event: Name,
    handler?: AdsListeners[Name],
    context?: unknown,
  ): void {
    for (const added of this.#handlers) {
      const matches =
        added.event === event &&
        (handler === undefined || added.handler === handler) &&
        (context === undefined || added.context === context);
      if (matches) added.remove();
    }
  }

  /** See {@link Ads.showRewarded}. If the scene ends, the ad ends with `aborted`. */
  showRewarded(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#show(options, (scopedOptions) =>
      this.#ads().showRewarded(placement, scopedOptions),
    );
  }

  /** See {@link Ads.showInterstitial}. If the scene ends, the ad ends with `aborted`. */
  showInterstitial(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#show(options, (scopedOptions) =>
      this.#ads().showInterstitial(placement, scopedOptions),
    );
  }

  /** See {@link Ads.mountBanner}. The banner is removed when the scene ends. */
  mountBanner(placement: string, element: HTMLElement): Banner {
    const banner = this.#ads().mountBanner(placement, element);
    return { ...banner, remove: callAtSceneEnd(this.#scene, () => banner.remove()) };
  }

  /**
   * Adds a button that loads an ad and shows it when pressed. The button shows whether an ad may be offered, or when
   * the next one will be available.
   *
   * @example
   * this.ads.addRewardedButton({ placement: 'revive', x: 180, y: 240 });
   */
  addRewardedButton(options: RewardedButtonOptions): Phaser.GameObjects.Container {
    return this.#ads().addRewardedButton(this.#scene, options);
  }

  /**
   * Adds a text that shows a balance of the player’s wallet and follows it. Returns a Phaser text.
   *
   * @example
   * this.ads.addWalletText({ type: 'coins', x: 348, y: 12 }).setOrigin(1, 0);
   */
  addWalletText(options: WalletTextOptions): Phaser.GameObjects.Text {
    return this.#ads().addWalletText(this.#scene, options);
  }

  /** See {@link Ads.portal}. */
  get portal(): PortalPage | undefined {
    return this.#ads().portal;
  }

  /** See {@link Ads.canShow}. */
  canShow(placement: string, options?: RequestOptions): boolean {
    return this.#ads().canShow(placement, options);
  }

  /** See {@link Ads.isAdFree}. */
  isAdFree(): boolean {
    return this.#ads().isAdFree();
  }

  /** See {@link Ads.isLoaded}. */
  isLoaded(placement: string, options?: RequestOptions): boolean {
    return this.#ads().isLoaded(placement, options);
  }

  /** See {@link Ads.availability}. */
  availability(placement: string, options?: RequestOptions): Availability {
    return this.#ads().availability(placement, options);
  }

  /** See {@link Ads.preload}. The ad stays loaded when the scene ends, for the next scene. */
  preload(placement: string, options?: PreloadOptions): Promise<Availability> {
    return this.#ads().preload(placement, options);
  }

  /** See {@link Ads.wallet}. It is the whole game’s wallet: a spend goes on when the scene ends. */
  get wallet(): Wallet {
    return this.#ads().wallet;
  }

  /** See {@link Ads.rewardStatus}. */
  rewardStatus(decisionId: string): Promise<RewardReport> {
    return this.#ads().rewardStatus(decisionId);
  }

  /** See {@link Ads.rewards}. */
  rewards(): Promise<RewardReport[]> {
    return this.#ads().rewards();
  }

  /** See {@link Ads.setUser}. Affects the whole game. */
  setUser(user: UserOptions, options?: SetUserOptions): void {
    this.#ads().setUser(user, options);
  }

  /** See {@link Ads.setConsent}. Affects the whole game. */
  setConsent(consent: ConsentOptions): void {
    this.#ads().setConsent(consent);
  }

  /** See {@link Ads.simulate}. Affects the whole game. */
  simulate(outcome?: Simulation): void {
    this.#ads().simulate(outcome);
  }

  /** See {@link Ads.toggleDebugPanel}. */
  toggleDebugPanel(): void {
    this.#ads().toggleDebugPanel();
  }

  /** See {@link Ads.diagnostics}. */
  diagnostics(): Diagnostics {
    return this.#ads().diagnostics();
  }

  #ads(): GameAds {
    const plugin = gamePlugins.get(this.#manager);
    if (plugin) return plugin;
    throw new Error('trueward: the game’s TruewardPlugin is missing.');
  }

  #add(
    event: keyof AdsListeners,
    handler: unknown,
    context: unknown,
    removeHandler: () => void,
  ): () => void {
    const remove = callAtSceneEnd(this.#scene, () => {
      this.#handlers.delete(added);
      removeHandler();
    });
    const added: SceneHandler = { event, handler, context, remove };
    this.#handlers.add(added);
    return remove;
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
