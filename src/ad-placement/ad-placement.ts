import { type Clock, createDeadline, type Deadline, systemClock } from '../platform/clock.ts';
import { toList, toText } from '../platform/guard.ts';
import { warnOnce } from '../platform/warn.ts';
import { type AdFormat, createLoadedAds } from './keep-loaded.ts';
import { isTypeName, readBreak, readProperty } from './read-break.ts';
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
import { native } from '../platform/native.ts';

/** Options for {@link AdPlacement.adConfig}. */
export interface AdConfigOptions {
  /**
   * `on` loads ads for all placements at once; with `auto`, a placement’s first ad is loaded by its first ad break. After
   * that, the next ad is always loaded when an ad break has ended. Only the first value has an effect, and only before
   * the first ad break.
   */
  preloadAdBreaks?: 'on' | 'auto';
  /**
   * Whether the game’s sound is on. `off` starts ads muted; `on` starts them with sound where the browser allows it.
   * May be changed at any time. Default: the `muted` option passed to `createAds()`.
   */
  sound?: 'on' | 'off';
  /**
   * Called when ads can be requested: the player’s consent is known and, with `preloadAdBreaks: 'on'`, the first ads have
   * loaded.
   */
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
   * Maps an ad break’s `name` or `type` to a placement. The name takes precedence, unless it is also the name of a type.
   * The key `interstitial` covers every type except `reward`. The key `treasure-chest` covers the name “Treasure Chest”
   * too.
   */
  placements: Readonly<
    Partial<Record<BreakType | 'interstitial', string>> & Record<string, string>
  >;
  /**
   * The least time between two interstitials, in seconds: `60s`. Like Google’s `data-ad-frequency-hint`, it doesn’t apply
   * to rewarded ads. `0s` sets no limit. Default: `120s`.
   */
  frequencyHint?: string;
}

/** Google’s default time between two interstitials, and the longest that an ad rule can set, in seconds. */
const defaultGapS = 120;
const maxGapS = 86_400;

/**
 * Creates `adBreak()` and `adConfig()` as documented by Google’s Ad Placement API, on top of Trueward.
 *
 * @example
 * const { adBreak, adConfig } = createAdPlacement(ads, {
 *   placements: { reward: 'revive', next: 'level-end' },
 * });
 */
export function createAdPlacement(
  ads: BreakAds,
  options: AdPlacementOptions,
  clock: Clock = systemClock,
): AdPlacement {
  const { frequencyHint, placements } = Object(options) as Partial<AdPlacementOptions>;
  const gapMs = parseGap(frequencyHint) * 1_000;
  const loadedAds = createLoadedAds(ads);
  const allPlacements = Object.entries(placements ?? {}).filter(([, placement]) => placement);
  let prerollCount = 0;
  let nextBreak = new native.AbortController();
  let muted: boolean | undefined;
  let canSetPreload = true;
  let preloading: Promise<unknown> = Promise.resolve();
  /** When the next interstitial may be shown. */
  let gap: Deadline | undefined;

  const find = (key: string): string | undefined =>
    allPlacements.find(([name]) => name === key)?.[1] ??
    allPlacements.find(([name]) => simplify(name) === simplify(key))?.[1];

  function findPlacement({ name = '', type }: AdBreakOptions): string | undefined {
    const keys = [isTypeName(name) ? '' : name, type, type === 'reward' ? '' : 'interstitial'];
    return keys.filter(Boolean).map(find).find(Boolean);
  }

  /** Returns why the break shows no ad, and tells the developer. */
  function findFault(
    options: AdBreakOptions,
    error: string | undefined,
    placement: string | undefined,
  ): BreakStatus | undefined {
    const { name = '', type } = options;
    // The error is for the developer only: the game continues without an ad.
    if (error) reportError(new TypeError(`trueward: ${error}`));
    else if (type === 'preroll' && (prerollCount += 1) > 1)
      warnOnce('a page can have only one ad break of type preroll. The others show no ad.');
    else if (placement === undefined)
      warnOnce(
        `ad breaks of type ${type}${name && ` and name ${JSON.stringify(name)}`} have no placement, so they show no ad. Map the type or the name to a placement.`,
      );
    else return type !== 'reward' && gap?.passed() === false ? 'frequencyCapped' : undefined;
    return 'invalid';
  }

  const whenConsentKnown = (): Promise<void> =>
    loadedAds.whenConsentKnown(allPlacements[0]?.[1] ?? '');
  const preloadAll = (): Promise<unknown> =>
    Promise.all(
      toList(new Map(allPlacements.map(([key, placement]) => [placement, formatOf(key)]))).map(
        (entry) => loadedAds.keep(...entry),
      ),
    );

  async function run(
    options: AdBreakOptions,
    placement: string,
    guard: Guard,
  ): Promise<BreakStatus> {
    const isReward = options.type === 'reward';
    const load = () => loadedAds.keep(placement, formatOf(options.type));
    const status = await runBreak({
      ads,
      clock,
      load,
      placement,
      options,
      muted: () => muted,
      guard,
      next: nextBreak.signal,
      onShown() {
        if (!isReward) gap = createDeadline(clock, gapMs);
      },
    });
    if (status === 'invalid')
      warnOnce(
        `the placement ${placement} can't be used for ad breaks of type ${options.type}: it does not exist or has another format.`,
      );
    // For the next ad break. A placement without an ad is not asked again until then.
    else if (status === 'viewed' || status === 'dismissed') void load();
    return status;
  }

  async function startBreak(given: unknown): Promise<void> {
    const { error, options, unknownKeys } = readBreak(given);
    if (unknownKeys.length > 0)
      warnOnce(`adBreak() ignores ${unknownKeys.map((key) => `\`${key}\``).join(', ')}.`);
    nextBreak.abort();
    nextBreak = new native.AbortController();
    canSetPreload = false;
    const guard = createGuard();
    const placement = findPlacement(options);
    const fault = findFault(options, error, placement);
    const status = fault ?? (await run(options, placement ?? '', guard));
    // As in Google’s API, no callback is called before `adBreak()` has returned.
    await Promise.resolve();
    callAdBreakDone(options, guard.hasThrown ? 'error' : status);
  }

  return {
    adBreak(given) {
      void startBreak(given);
    },
    adConfig(given) {
      const sound = readProperty(given, 'sound');
      const preload = readProperty(given, 'preloadAdBreaks');
      const onReady = readProperty(given, 'onReady');
      if (sound === 'on' || sound === 'off') muted = sound === 'off';
      else if (sound !== undefined) warnOnce("adConfig(): `sound` must be 'on' or 'off'.");
      if (preload !== undefined && preload !== 'on' && preload !== 'auto')
        warnOnce("adConfig(): `preloadAdBreaks` must be 'on' or 'auto'.");
      else if (preload !== undefined && canSetPreload) {
        canSetPreload = false;
        if (preload === 'on') preloading = whenConsentKnown().then(preloadAll);
      }
      if (typeof onReady === 'function')
        void whenConsentKnown()
          .then(() => preloading)
          .then(() => createGuard().run(() => onReady.call(given)));
    },
  };
}

/** A name in the form in which an HTML attribute can contain it. */
const simplify = (name: string): string => name.trim().toLowerCase().replace(/\s+/g, '-');

/** Reads Google’s frequency hint. Returns seconds. */
function parseGap(given: unknown = `${defaultGapS}s`): number {
  const hint = toText(given);
  const [, seconds] = /^\s*(\d+)\s*s?\s*$/i.exec(hint) ?? [];
  if (seconds !== undefined && Number(seconds) <= maxGapS) return Number(seconds);
  warnOnce(
    `the frequency hint must be a number of seconds up to ${maxGapS}, such as \`60s\`, so it is ${defaultGapS}s; got ${JSON.stringify(hint.slice(0, 40))}.`,
  );
  return defaultGapS;
}

/** Returns the format that breaks of this type need. A break’s own name says nothing about it. */
const formatOf = (key: string): AdFormat | undefined =>
  key === 'reward' ? 'rewarded' : isTypeName(key) ? 'interstitial' : undefined;

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
