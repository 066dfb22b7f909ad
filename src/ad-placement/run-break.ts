import type { Ads } from '../ads.ts';
import type { Availability, Outcome } from '../outcome.ts';
import { type Clock, runWithTimeout } from '../platform/clock.ts';
import { listen, native } from '../platform/native.ts';

/** Google’s ad break types. */
export type BreakType = 'preroll' | 'start' | 'pause' | 'next' | 'browse' | 'reward';

/**
 * The results of an ad break, as Google defines them.
 *
 * - `viewed`: the ad was shown to the end, or the player closed an ad that had no reward.
 * - `dismissed`: the player closed a rewarded ad too early.
 * - `ignored`: the player had not accepted the reward offer when the next ad break started.
 * - `notReady`: `startAdPlacement()` has not been called, or consent is not known yet.
 * - `noAdPreloaded`: no ad is available, or it could not be loaded in time.
 * - `frequencyCapped`: a cap, a cooldown or the frequency hint applies to this player.
 * - `timeout`: requesting or loading the ad took too long.
 * - `invalid`: unknown placement, second preroll, or missing callback.
 * - `error`: a callback threw; the error was reported to `window.onerror`.
 * - `other`: anything else, such as being offline.
 */
export type BreakStatus =
  | 'notReady'
  | 'timeout'
  | 'invalid'
  | 'error'
  | 'noAdPreloaded'
  | 'frequencyCapped'
  | 'ignored'
  | 'other'
  | 'dismissed'
  | 'viewed';

/** The argument that `adBreakDone` receives. */
export interface PlacementInfo {
  breakType: BreakType;
  breakName: string;
  breakFormat: 'interstitial' | 'reward';
  breakStatus: BreakStatus;
}

/** Options for {@link AdPlacement.adBreak}. */
export interface AdBreakOptions {
  type: BreakType;
  /** Your name for this ad break. `placements` may map this name to a placement. */
  name?: string;
  /** Called when the ad is about to cover the game. Not called for a preroll. */
  beforeAd?: () => void;
  /** Called when the ad has closed, regardless of the result. Not called if `beforeAd` was not called. */
  afterAd?: () => void;
  /** Called when an ad is ready. Offer the reward, and call `showAdFn` when the player accepts. */
  beforeReward?: (showAdFn: () => void) => void;
  /** Called if the player closes the ad before the reward is due. */
  adDismissed?: () => void;
  /** Called when the player has watched the ad to the end. */
  adViewed?: () => void;
  /** Always called exactly once, after all other callbacks. */
  adBreakDone?: (placementInfo: PlacementInfo) => void;
}

/** Runs the callbacks for one ad break, and records whether one of them threw. */
export interface Guard {
  readonly hasThrown: boolean;
  /** Runs a callback and returns whether it succeeded. An error is reported to `window.onerror`. */
  run(callback: () => void): boolean;
}

export function createGuard(): Guard {
  let hasThrown = false;
  return {
    get hasThrown() {
      return hasThrown;
    },
    run(callback) {
      try {
        callback();
        return true;
      } catch (error) {
        hasThrown = true;
        reportError(error);
        return false;
      }
    },
  };
}

const statuses: Readonly<Record<Outcome, BreakStatus>> = {
  rewarded: 'viewed',
  // The ad was watched, and its confirmation is pending.
  pending: 'viewed',
  completed: 'viewed',
  dismissed: 'dismissed',
  denied: 'other',
  ad_free: 'other',
  no_fill: 'noAdPreloaded',
  frequency_capped: 'frequencyCapped',
  cooldown: 'frequencyCapped',
  blocked: 'other',
  killed: 'other',
  ad_blocked: 'other',
  offline: 'other',
  timeout: 'timeout',
  stalled: 'other',
  already_showing: 'other',
  aborted: 'other',
  not_ready: 'notReady',
  invalid_placement: 'invalid',
  // Google reserves `error` for game callbacks that threw.
  error: 'other',
};

/** Maps an outcome to Google’s result. */
export function toBreakStatus(outcome: Outcome, format: 'interstitial' | 'reward'): BreakStatus {
  // Google uses `dismissed` only for rewarded ads.
  if (outcome === 'dismissed' && format === 'interstitial') return 'viewed';
  return statuses[outcome];
}

/** The part of {@link Ads} that ad breaks need. */
export type BreakAds = Pick<
  Ads,
  'availability' | 'isLoaded' | 'on' | 'portal' | 'preload' | 'showRewarded' | 'showInterstitial'
>;

/** An ad break with valid options. */
export interface AdPlacementBreak {
  ads: BreakAds;
  placement: string;
  options: AdBreakOptions;
  clock: Clock;
  /** Loads an ad for the placement. */
  load(): Promise<Availability>;
  /** Returns the setting from `adConfig({ sound })`, which may change at any time. Undefined if the game has not set it. */
  muted(): boolean | undefined;
  /** Called when an ad is on the screen. */
  onShown(): void;
  guard: Guard;
  /** Aborts when the next ad break starts. A reward offer expires if the player has not accepted it by then. */
  next: AbortSignal;
}

/** Shows the ad and calls all callbacks except the last, `adBreakDone`. */
export function runBreak(run: AdPlacementBreak): Promise<BreakStatus> {
  return run.options.type === 'reward' ? offerAndShow(run) : showInterstitial(run);
}

async function offerAndShow(run: AdPlacementBreak): Promise<BreakStatus> {
  const { ads, placement, next } = run;
  // Some games start an ad break every second to offer a reward, so don't send a request while the placement is known
  // to have no ad.
  const currentAvailability = ads.availability(placement);
  if (!currentAvailability.available)
    return toBreakStatus(currentAvailability.outcome ?? 'no_fill', 'reward');
  const preloaded = await run.load();
  if (next.aborted) return 'other';
  // A preload can succeed while another ad is showing, so check availability again.
  const { available, outcome } = preloaded.available ? ads.availability(placement) : preloaded;
  if (!available) return toBreakStatus(outcome ?? 'no_fill', 'reward');
  if (!(await waitForAcceptance(run))) return 'ignored';
  return showRewarded(run);
}

function waitForAcceptance({ options, guard, next }: AdPlacementBreak): Promise<boolean> {
  return new Promise((resolve) => {
    listen(next, 'abort', () => resolve(false));
    const succeeded = guard.run(() => options.beforeReward?.(() => resolve(true)));
    if (!succeeded) resolve(false);
  });
}

async function showRewarded(run: AdPlacementBreak): Promise<BreakStatus> {
  const { ads, placement, options, guard } = run;
  const showOptions = buildShowOptions(options, run);
  // A portal holds the game before it knows whether it has an ad. Without one, the player has dismissed nothing.
  let wasShown = !ads.portal;
  const stop = ads.on('start', () => (wasShown = true));
  const { outcome } = await ads.showRewarded(placement, showOptions);
  stop();
  const status = toBreakStatus(outcome, 'reward');
  if (showOptions.wasOpened()) {
    if (status === 'viewed') guard.run(() => options.adViewed?.());
    else if (wasShown && status !== 'noAdPreloaded') guard.run(() => options.adDismissed?.());
    guard.run(() => options.afterAd?.());
  }
  return status;
}

/**
 * How long an ad break without a reward waits for an ad that is not loaded, in milliseconds. A game doesn’t expect an ad
 * later than that: it may have resumed. The ad is shown in the next ad break.
 */
const maxWaitMs = 1_000;

async function showInterstitial(run: AdPlacementBreak): Promise<BreakStatus> {
  const { ads, clock, placement, guard } = run;
  // For a preroll, Google calls only `adBreakDone`, because there is no running game to pause.
  const isPreroll = run.options.type === 'preroll';
  const options: AdBreakOptions = isPreroll ? { type: 'preroll' } : run.options;
  if (!isPreroll && !ads.isLoaded(placement)) {
    const loaded = await runWithTimeout(clock, maxWaitMs, undefined, run.load);
    if (typeof loaded === 'string') return 'noAdPreloaded';
    if (!loaded.available) return toBreakStatus(loaded.outcome ?? 'no_fill', 'interstitial');
  }
  const showOptions = buildShowOptions(options, run);
  const { outcome } = await ads.showInterstitial(placement, showOptions);
  if (showOptions.wasOpened()) guard.run(() => options.afterAd?.());
  return toBreakStatus(outcome, 'interstitial');
}

/** Returns options that call `beforeAd` when the ad opens. If `beforeAd` throws, no ad is shown. */
function buildShowOptions(options: AdBreakOptions, { guard, muted, onShown }: AdPlacementBreak) {
  const abortController = new native.AbortController();
  const isMuted = muted();
  let wasOpened = false;
  return {
    signal: abortController.signal,
    ...(isMuted !== undefined && { muted: isMuted }),
    onOpen() {
      wasOpened = true;
      onShown();
      if (!guard.run(() => options.beforeAd?.())) abortController.abort();
    },
    wasOpened: () => wasOpened,
  };
}
