import {
  type Ads,
  type AdsOptions,
  type CompletedSpend,
  createAds,
  OptionError,
  type PortalAdsOptions,
} from '../index.ts';
import type { EarnedReward } from '../outcome.ts';
import { unavailableAds } from '../unavailable-ads.ts';
import { cocosDriver } from './cocos-driver.ts';
import type { CocosComponentModule, CocosModule } from './cocos-module.ts';

/** The `createAds()` options, without `engine`. */
export type CocosAdsOptions = Omit<AdsOptions, 'engine'> | Omit<PortalAdsOptions, 'engine'>;

/**
 * Creates ads for a Cocos Creator game. On a target without a web page (native, mini games), nothing throws:
 * `canShow()` returns `false`, and every call to show an ad ends with the outcome `error` and the reason `no_dom`.
 *
 * @throws OptionError for invalid options and unsupported engine versions, on targets with a web page.
 *
 * @example
 * import * as cc from 'cc';
 * import { createCocosAds } from 'trueward/cocos';
 *
 * const ads = createCocosAds(cc, { publishableKey, serviceUrl, userRef });
 * const { outcome } = await ads.showRewarded('revive');
 */
export function createCocosAds(cc: CocosModule, options: CocosAdsOptions): Ads {
  if (!hasPage()) return unavailableAds('no_dom');
  return createAds({ ...options, engine: cocosDriver(cc) });
}

/** Also checks for the `dialog` element, because mini games emulate `document` but not that element. */
function hasPage(): boolean {
  return typeof document !== 'undefined' && typeof HTMLDialogElement !== 'undefined';
}

/**
 * The members that {@link createTruewardComponent} adds to `cc.Component`. Declared as a class, because an interface
 * cannot have protected methods such as those of `cc.Component`.
 */
export declare abstract class TruewardComponent {
  /** The ads client. Created on first access or in `onLoad()`, whichever comes first. */
  get ads(): Ads;
  /** Override this method to return the options, usually from properties of your component. */
  adsOptions(): CocosAdsOptions;
  /**
   * Implement this method to receive every confirmed reward while the component is enabled. Rewards that arrive while
   * it is disabled wait until it is enabled. See the `reward` event of `ads.on()`.
   */
  onReward?(reward: EarnedReward): void | Promise<void>;
  /**
   * Implement this method to hand out what the player has bought with `ads.wallet.spend()`, while the component is
   * enabled. See the `spend` event of `ads.on()`.
   */
  onSpend?(spend: CompletedSpend): void | Promise<void>;
  /** Called by the engine. If you override any of these four methods, also call it on `super`. */
  protected onLoad(): void;
  protected onEnable(): void;
  protected onDisable(): void;
  protected onDestroy(): void;
}

/**
 * Creates the base class for your ads component. Its node becomes a persistent root node, so put it at the root of your
 * first scene. Invalid options are reported once, to the console and `window.onerror`. They disable the ads, but not
 * the game.
 *
 * The class has no `@ccclass` decorator, because Cocos Creator allows only one decorated component per script, and your
 * component needs it.
 *
 * @example
 * import * as cc from 'cc';
 * import { createTruewardComponent } from 'trueward/cocos';
 * const { ccclass, property } = cc._decorator;
 *
 * @ccclass('GameAds')
 * export class GameAds extends createTruewardComponent(cc) {
 *   @property publishableKey = '';
 *   @property serviceUrl = '';
 *
 *   adsOptions() {
 *     return { publishableKey: this.publishableKey, serviceUrl: this.serviceUrl };
 *   }
 * }
 */
export function createTruewardComponent<Node, Component extends { node: Node }>(
  cc: CocosComponentModule<Node, Component>,
): new () => Component & TruewardComponent {
  // With this type, TypeScript does not treat the class as a mixin, whose constructor would need an `any[]` rest
  // parameter.
  const Base: new () => { node: Node } = cc.Component;

  class Trueward extends Base {
    #ads: Ads | undefined;
    #stops: (() => void)[] = [];

    onReward?(reward: EarnedReward): void | Promise<void>;
    onSpend?(spend: CompletedSpend): void | Promise<void>;

    get ads(): Ads {
      return (this.#ads ??= startAds(cc, () => this.adsOptions()));
    }

    adsOptions(): CocosAdsOptions {
      return {} as CocosAdsOptions;
    }

    onLoad(): void {
      cc.director.addPersistRootNode(this.node);
      // Creates the client early, so that it sends events and delivers rewards left over from an earlier visit.
      void this.ads;
    }

    onEnable(): void {
      // A handler that does nothing would consume the reward, or what was bought.
      if (this.onReward)
        this.#stops.push(this.ads.on('reward', (reward) => this.onReward?.(reward)));
      if (this.onSpend) this.#stops.push(this.ads.on('spend', (spend) => this.onSpend?.(spend)));
    }

    onDisable(): void {
      for (const stop of this.#stops) stop();
      this.#stops = [];
    }

    onDestroy(): void {
      this.#ads?.destroy();
    }
  }
  return makeCallable(Trueward) as unknown as new () => Component & TruewardComponent;
}

/**
 * Lets constructors compiled to ES5 extend a class. With Creator’s _Loose_ option, such constructors call their base
 * class as a function, but a class can’t be called like one.
 */
function makeCallable<Class extends new () => object>(Class: Class): Class {
  return new Proxy(Class, {
    apply: (_, instance: object) => Reflect.construct(Class, [], instance.constructor),
  });
}

function startAds(cc: Parameters<typeof createCocosAds>[0], options: () => CocosAdsOptions): Ads {
  try {
    return createCocosAds(cc, options());
  } catch (error) {
    // An exception would abort the engine’s current frame, so report it instead.
    reportError(error);
    return unavailableAds(error instanceof OptionError ? error.code : 'sdk_error');
  }
}
