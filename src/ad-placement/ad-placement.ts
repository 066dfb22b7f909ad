import {
  type BreakType,
  type BreakStatus,
  type PlacementInfo,
  type AdBreakOptions,
  type BreakAds,
  createGuard,
  type Guard,
  runBreak,
} from './run-break.ts';

/** Options for {@link AdPlacement.adConfig}. */
export interface AdConfigOptions {
  /** `on` preloads ads for all placements. Only the first value has an effect, and only before the first ad break. */
  preloadAdBreaks?: 'on' | 'auto';
  /**
   * Whether the game’s sound is on. `off` starts ads muted; `on` starts them with sound where the browser allows it.
   * May be changed at any time. Default: the `muted` option passed to `createAds()`.
   */
  sound?: 'on' | 'off';
  /** Called when ads can be requested. With `preloadAdBreaks: 'on'`, called when the preloads have finished. */
  onReady?: () => void;
}

/** The two functions that make up Google’s Ad Placement API. */
export interface AdPlacement {
  adBreak(options: AdBreakOptions): void;
  adConfig(options: AdConfigOptions): void;
}

/** Maps ad breaks to placements. */
export interface AdPlacementOptions {
  /**
   * Maps an ad break’s `name` or `type` to a placement. The name takes precedence. The key `interstitial` covers every
   * type except `reward`.
   */
  placements: Readonly<
    Partial<Record<BreakType | 'interstitial', string>> & Record<string, string>
  >;
}

const breakTypes: readonly string[] = ['preroll', 'start', 'pause', 'next', 'browse', 'reward'];
const rewardCallbacks = ['beforeReward', 'adDismissed', 'adViewed'] as const;

/**
 * Creates `adBreak()` and `adConfig()` as documented by Google’s Ad Placement API, on top of Trueward.
 *
 * @example
 * const { adBreak, adConfig } = createAdPlacement(ads, {
 *   placements: { reward: 'revive', next: 'level-end' },
 * });
 */
export function createAdPlacement(ads: BreakAds, { placements }: AdPlacementOptions): AdPlacement {
  let breakCount = 0;
  let prerollCount = 0;
  let nextBreak = new AbortController();
  let muted: boolean | undefined;
  let hasPreloadSetting = false;
  let preloading: Promise<unknown> = Promise.resolve();

  function findPlacement({ name = '', type }: AdBreakOptions): string | undefined {
    const keys = [name, type, ...(type === 'reward' ? [] : ['interstitial'])];
    const key = keys.find((candidate) => Object.hasOwn(placements, candidate));
    return key === undefined ? undefined : placements[key];
  }

  function run(options: AdBreakOptions, guard: Guard): Promise<BreakStatus> {
    const placement = findPlacement(options);
    const error = findError(options);
    // The error is for the developer only: the game continues without an ad.
    if (error !== undefined) reportError(new TypeError(`trueward: ${error}`));
    const isRepeatedPreroll = options.type === 'preroll' && (prerollCount += 1) > 1;
    if (placement === undefined || error !== undefined || isRepeatedPreroll) {
      return Promise.resolve('invalid');
    }
    return runBreak({ ads, placement, options, muted, guard, next: nextBreak.signal });
  }

  return {
    adBreak(options) {
      nextBreak.abort();
      nextBreak = new AbortController();
      breakCount += 1;
      const guard = createGuard();
      void run(options, guard).then((status) =>
        callAdBreakDone(options, guard.hasThrown ? 'error' : status),
      );
    },
    adConfig({ preloadAdBreaks, sound, onReady }: AdConfigOptions) {
      if (sound !== undefined) muted = sound === 'off';
      if (preloadAdBreaks !== undefined && !hasPreloadSetting && breakCount === 0) {
        hasPreloadSetting = true;
        if (preloadAdBreaks === 'on') {
          const names = new Set(Object.values(placements).filter((name) => name !== undefined));
          preloading = Promise.all(Array.from(names, (name) => ads.preload(name)));
        }
      }
      void preloading.then(() => createGuard().run(() => onReady?.()));
    },
  };
}

/** Calls `adBreakDone`, the last callback in an ad break. */
export function callAdBreakDone(options: AdBreakOptions, breakStatus: BreakStatus): void {
  const info: PlacementInfo = {
    breakType: options.type,
    breakName: options.name ?? '',
    breakFormat: options.type === 'reward' ? 'reward' : 'interstitial',
    breakStatus,
  };
  createGuard().run(() => options.adBreakDone?.(info));
}

function findError(options: AdBreakOptions): string | undefined {
  const { type } = options;
  if (!breakTypes.includes(type)) {
    return `adBreak() got the type ${JSON.stringify(type)}; expected one of ${breakTypes.join(', ')}.`;
  }
  const missing = type === 'reward' && rewardCallbacks.filter((name) => !options[name]);
  if (!missing || missing.length === 0) return undefined;
  return `adBreak() of type reward needs ${rewardCallbacks.join(', ')}; missing: ${missing.join(', ')}.`;
}
