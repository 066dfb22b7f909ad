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
import { startAds } from '../create-ads.ts';
import {
  type AdsOptions,
  type ConsentOptions,
  OptionError,
  type PortalAdsOptions,
  type RequestOptions,
  type Simulation,
  type UserOptions,
} from '../index.ts';
import { toLanguageTag } from '../options.ts';
import type { Availability, RewardReport, ShowResult } from '../outcome.ts';
import { createEmitter } from '../platform/emitter.ts';
import { newRandomId } from '../platform/ids.ts';
import { phaserDriver } from './phaser-driver.ts';
import { addRewardedButton, type RewardedButtonOptions } from './rewarded-button.ts';
import { gamePlugins, SceneAds } from './scene-ads.ts';
import { unavailableAds } from '../unavailable-ads.ts';
import type { Wallet } from '../wallet/wallet.ts';
import { addWalletText, type WalletTextOptions } from './wallet-text.ts';

/**
 * The key under which scenes get their `this.ads`. Phaser keeps scene plugins for the whole page, so every copy of this
 * script uses its own key.
 */
const scenePluginKey = `trueward-scene-${newRandomId()}`;

/** The plugin’s `data`: the `createAds()` options, without `engine`. */
export type TruewardPluginData = Omit<AdsOptions, 'engine'> | Omit<PortalAdsOptions, 'engine'>;

/**
 * Ads for a Phaser game (3.60 to 4.x). Adds two objects with the methods of {@link Ads} to every scene: `this.ads`, whose
 * handlers, buttons and ads end with the scene ({@link SceneAds}), and `this.gameAds`, this plugin itself.
 *
 * Invalid options are reported once, to the console and `window.onerror`. They do not prevent the game from starting:
 * `canShow()` returns `false`, and calls to show an ad end with the outcome `error` and the error code as the `reason`.
 *
 * Phaser requires no base class for global plugins. This file therefore needs only Phaser’s types and can be loaded
 * before or after Phaser.
 *
 * @example
 * new Phaser.Game({
 *   plugins: {
 *     global: [{ key: 'trueward', plugin: TruewardPlugin, start: true, data }],
 *   },
 * });
 * // in a scene
 * const { outcome } = await this.ads.showRewarded('revive');
 */
export class TruewardPlugin implements Ads {
  readonly #game: Phaser.Game;
  #data: TruewardPluginData | undefined;
  /** The handlers belong to the plugin. They may be added before `start()` and outlive `stop()`. */
  readonly #events = createEmitter<AdsListeners>();
  #ads: Ads = unavailableAds('not_started', this.#events);
  #running: Ads | undefined;

  /**
   * Adds ads to an existing game, whether or not it has booted, and to its scenes. Unlike the game configuration, this
   * also works for a headless game and for a second game on the same page. (Phaser mixes up two games' plugin keys; see
   * phaserjs/phaser#7151 and #7348.) Also passes the data to a plugin that was loaded with `load.plugin()`. Has no
   * effect on the data of a plugin that is already running.
   */
  static install(game: Phaser.Game, data: TruewardPluginData): TruewardPlugin {
    const plugin = TruewardPlugin.of(game.plugins) ?? TruewardPlugin.#add(game.plugins);
    if (!plugin.#running) plugin.init(data);
    plugin.start();
    return plugin;
  }

  /** Returns a game’s plugin, regardless of the key it was registered under. */
  static of({ plugins }: Phaser.Plugins.PluginManager): TruewardPlugin | undefined {
    for (const { plugin } of plugins as { plugin: unknown }[])
      if (plugin instanceof TruewardPlugin) return plugin;
    return undefined;
  }

  static #add(manager: Phaser.Plugins.PluginManager): TruewardPlugin {
    const plugin = new TruewardPlugin(manager);
    // Phaser injects the plugins in this list into every new scene and destroys them with the game. Phaser's types
    // wrongly declare the plugin instances as functions.
    const pluginList: { key: string; plugin: object; active?: boolean }[] = manager.plugins;
    pluginList.push({ key: 'trueward', plugin, active: true });
    return plugin;
  }

  constructor(pluginManager: Phaser.Plugins.PluginManager) {
    this.#game = pluginManager.game;
    gamePlugins.set(pluginManager, this);
  }

  /** Called by Phaser with the configured `data`. */
  init(data: TruewardPluginData): void {
    this.#data = data;
  }

  /** Called by Phaser. Starts the ads. */
  start(): void {
    if (this.#running) return;
    this.#addToScenes();
    try {
      const options = { ...(this.#data as AdsOptions), engine: phaserDriver(this.#game) };
      this.#running = startAds(options, this.#events);
      this.#ads = this.#running;
    } catch (error) {
      // An exception would prevent the game from starting, so report it instead.
      reportError(error);
      const reason = error instanceof OptionError ? error.code : 'sdk_error';
      this.#ads = unavailableAds(reason, this.#events);
    }
  }

  /** Adds `ads` and `gameAds` to the game’s scenes, now and in the future. */
  #addToScenes(): void {
    const { plugins: manager, scene: scenes } = this.#game;
    const entries: { plugin: unknown; mapping?: string | null }[] = manager.plugins;
    const entry = entries.find(({ plugin }) => plugin === this);
    // Whatever the game's configuration says, `this.ads` must end with its scene.
    if (entry && (entry.mapping ?? 'ads') === 'ads') entry.mapping = 'gameAds';
    if (!manager.scenePlugins.includes(scenePluginKey))
      manager.installScenePlugin(scenePluginKey, SceneAds, 'ads');
    for (const scene of scenes.getScenes(false)) {
      if (!(scene.ads instanceof SceneAds)) scene.ads = new SceneAds(scene, manager);
      scene.gameAds = this;
    }
  }

  /** Called by Phaser. Stops the ads. Until the next `start()`, calls end with `aborted`. */
  stop(): void {
    this.#running?.destroy();
    this.#running = undefined;
    // The buttons now show that no ad is available.
    this.#events.emit('change');
  }

  /** Called by Phaser when the game is destroyed. It may be called earlier and more than once. */
  destroy(): void {
    this.stop();
  }

  /** See {@link Ads.portal}. */
  get portal(): PortalPage | undefined {
    return this.#ads.portal;
  }

  /** See {@link Ads.canShow}. */
  canShow(placement: string, options?: RequestOptions): boolean {
    return this.#ads.canShow(placement, options);
  }

  /** See {@link Ads.isAdFree}. */
  isAdFree(): boolean {
    return this.#ads.isAdFree();
  }

  /** See {@link Ads.isLoaded}. */
  isLoaded(placement: string, options?: RequestOptions): boolean {
    return this.#ads.isLoaded(placement, options);
  }

  /** See {@link Ads.availability}. */
  availability(placement: string, options?: RequestOptions): Availability {
    return this.#ads.availability(placement, options);
  }

  /** See {@link Ads.preload}. */
  preload(placement: string, options?: PreloadOptions): Promise<Availability> {
    return this.#ads.preload(placement, options);
  }

  /** See {@link Ads.showRewarded}. */
  showRewarded(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#ads.showRewarded(placement, options);
  }

  /** See {@link Ads.showInterstitial}. */
  showInterstitial(placement: string, options?: ShowOptions): Promise<ShowResult> {
    return this.#ads.showInterstitial(placement, options);
  }

  /** See {@link Ads.mountBanner}. */
  mountBanner(placement: string, element: HTMLElement): Banner {
    return this.#ads.mountBanner(placement, element);
  }

  /**
   * See {@link Ads.on}. Handlers may be added before `start()` and persist across `stop()` and `start()`.
   *
   * @example
   * this.gameAds.on('result', this.count, this);
   */
  on<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void {
    return this.#ads.on(event, handler, context);
  }

  /** Like {@link TruewardPlugin.on}, but only for the next event. */
  once<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void {
    return this.#ads.once(event, handler, context);
  }

  /** Removes a handler. Without `handler`, removes all handlers for the event. */
  off<Name extends keyof AdsListeners>(
    event: Name,
    handler?: AdsListeners[Name],
    context?: unknown,
  ): void {
    this.#ads.off(event, handler, context);
  }

  /**
   * Adds a button to a scene. See {@link SceneAds.addRewardedButton}.
   *
   * @example
   * this.gameAds.addRewardedButton(this, { placement: 'revive', x: 180, y: 240 });
   */
  addRewardedButton(
    scene: Phaser.Scene,
    options: RewardedButtonOptions,
  ): Phaser.GameObjects.Container {
    return addRewardedButton(this, scene, options, this.#language());
  }

  /**
   * Adds a text that follows a balance to a scene. See {@link SceneAds.addWalletText}.
   *
   * @example
   * this.gameAds.addWalletText(this, { type: 'coins', x: 12, y: 12 });
   */
  addWalletText(scene: Phaser.Scene, options: WalletTextOptions): Phaser.GameObjects.Text {
    return addWalletText(this, scene, options, this.#language());
  }

  #language(): string {
    return toLanguageTag(this.#data?.locale ?? navigator.language);
  }

  /** See {@link Ads.wallet}. */
  get wallet(): Wallet {
    return this.#ads.wallet;
  }

  /** See {@link Ads.rewardStatus}. */
  rewardStatus(decisionId: string): Promise<RewardReport> {
    return this.#ads.rewardStatus(decisionId);
  }

  /** See {@link Ads.rewards}. */
  rewards(): Promise<RewardReport[]> {
    return this.#ads.rewards();
  }

  /** See {@link Ads.setUser}. */
  setUser(user: UserOptions, options?: SetUserOptions): void {
    this.#ads.setUser(user, options);
  }

  /** See {@link Ads.setConsent}. */
  setConsent(consent: ConsentOptions): void {
    this.#ads.setConsent(consent);
  }

  /** See {@link Ads.simulate}. */
  simulate(outcome?: Simulation): void {
    this.#ads.simulate(outcome);
  }

  /** See {@link Ads.toggleDebugPanel}. */
  toggleDebugPanel(): void {
    this.#ads.toggleDebugPanel();
  }

  /** See {@link Ads.diagnostics}. */
  diagnostics(): Diagnostics {
    return this.#ads.diagnostics();
  }
}
