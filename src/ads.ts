import type { Decision } from '../protocol/wire.ts';
import {
  type BreakDeps,
  type BreakKind,
  findShownAd,
  runAdBreak,
} from './ad-break/run-ad-break.ts';
import type { Recorder } from './debug/recorder.ts';
import type { Decisions } from './decision/decisions.ts';
import {
  copyOptions,
  type ConsentOptions,
  findCallError,
  type RequestOptions,
  type Simulation,
  type UserOptions,
} from './options.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { OutboxDiagnostics } from './outbox/state.ts';
import type { Availability, RewardReport, ShowResult } from './outcome.ts';
import type { Emitter } from './platform/emitter.ts';
import { linkSignals, runWithTimeout } from './platform/clock.ts';
import { loadPart } from './platform/load-part.ts';
import type { RewardDiagnostics, Rewards } from './reward/rewards.ts';
import type { RewardHandler } from './reward/delivery.ts';

/**
 * Options for one `preload()` call. A later call to show an ad uses the preloaded ad only if both calls have the same
 * `customData` and `segments`. Otherwise, it requests another ad.
 */
export interface PreloadOptions extends RequestOptions {
  signal?: AbortSignal;
  /**
   * The format that the placement must have. If it has another one, the outcome is `invalid_placement`, as it would be
   * for a call to show the ad. Default: any.
   */
  format?: 'rewarded' | 'interstitial' | 'banner';
  /**
   * A decision that your own server requested with its secret key, exactly as the service returned it. The next call to
   * show an ad for the placement uses this decision. Because your server identifies the player, no client can
   * impersonate another player.
   */
  decision?: Decision;
}

/** Options for one call to show an ad. */
export interface ShowOptions extends RequestOptions {
  /** Whether the ad starts without sound. Default: the `muted` option passed to `createAds()`. */
  muted?: boolean;
  /** Aborting this signal, at any time, ends the call with the outcome `aborted`. */
  signal?: AbortSignal;
  /** Called just before the ad covers the game. The game is already paused. */
  onOpen?: () => void;
  /**
   * Called when the ad has closed and the game has resumed. The result may still be waiting for the reward’s
   * confirmation.
   */
  onClose?: () => void;
}

/** Options for `setUser()`. */
export interface SetUserOptions {
  /**
   * Whether the new player receives the previous player’s undelivered and pending rewards. As far as the service is
   * concerned, these rewards still belong to the previous player, and `EarnedReward.userRef` is that player’s id. By
   * default, the rewards wait until the previous player returns.
   */
  transferRewards?: boolean;
}

/** A house ad inside the page. */
export interface Banner {
  /** Removes the banner from the page, or aborts its request. May be called more than once. */
  remove(): void;
  /**
   * Resolves with `completed` once the banner is on the page, or with the outcome that explains why it was not shown.
   */
  readonly result: Promise<ShowResult>;
}

/** The events that `ads.on()` supports, and the arguments that their handlers receive. */
export interface AdsListeners {
  /** An ad is about to cover the game. */
  open: (placement: string) => void;
  /** The ad’s first frame is on the screen. */
  start: (placement: string) => void;
  /** The ad has closed and the game is running again. Emitted once per `open`, together with `onClose`. */
  close: (placement: string) => void;
  /** A call of `showRewarded()` or `showInterstitial()` has ended, with or without an ad. Emitted for every call. */
  result: (placement: string, result: ShowResult) => void;
  /**
   * The result of `canShow()`, `isLoaded()`, `availability()`, `rewards()` or `diagnostics()` may have changed. For example, a
   * preload or an ad began or ended, a cooldown or cap ended, the consent, player or network changed, or a reward was
   * confirmed or delivered.
   */
  change: () => void;
  /**
   * A confirmed reward, emitted once per decision, during one of the engine’s frames. After a crash or a reload, it is
   * emitted again if the handler (or the promise that it returned) had not finished.
   */
  reward: RewardHandler;
}

/** The SDK’s state, for support requests and debug screens. */
export interface Diagnostics {
  /** The publishable key’s environment. Null if the options are invalid. */
  environment: 'sandbox' | 'live' | null;
  /** The placement whose ad is being requested or is on the screen. */
  showing: string | null;
  outbox: OutboxDiagnostics;
  rewards: RewardDiagnostics;
}

/** Ads for one game. No call throws for an ad-related reason, and every promise settles. */
export interface Ads {
  /**
   * Whether an ad may be offered now: false while consent is unknown, an ad is being requested or shown, the service
   * can't be reached, or the last request for this placement ended without an ad (until `retryAt`, or for 30 s). True
   * does not mean that an ad is loaded; see {@link Ads.isLoaded}. Sends nothing. Emits `change` when the result may
   * have changed.
   */
  canShow(placement: string, options?: RequestOptions): boolean;
  /**
   * Whether a call to show an ad would start at once, without a request: an ad was preloaded with the same `customData`
   * and `segments` less than a minute ago. After that, its decision must be requested again, so that a kill switch
   * takes effect, but its media is kept. Sends nothing. Emits `change` when the result may have changed.
   */
  isLoaded(placement: string, options?: RequestOptions): boolean;
  /** Like {@link Ads.canShow}, but also returns why no ad may be offered and when a request can succeed again. */
  availability(placement: string, options?: RequestOptions): Availability;
  /** Loads a decision and its media, so that a later call to show the ad starts immediately. */
  preload(placement: string, options?: PreloadOptions): Promise<Availability>;
  /**
   * Shows an ad that earns the placement’s reward.
   *
   * @example
   * const result = await ads.showRewarded('revive');
   * if (result.outcome === 'rewarded' || result.outcome === 'pending') revivePlayer();
   */
  showRewarded(placement: string, options?: ShowOptions): Promise<ShowResult>;
  /** Shows an ad at a natural pause in the game, without a reward. */
  showInterstitial(placement: string, options?: ShowOptions): Promise<ShowResult>;
  /** Mounts a house ad in an element on the page, where it stays until it is removed or `destroy()` is called. */
  mountBanner(placement: string, element: HTMLElement): Banner;
  /**
   * Calls `handler` on every `event`, with `context` as its `this`. Errors thrown by handlers are reported as uncaught
   * errors. Returns a function that removes the handler.
   *
   * @example
   * ads.on('reward', async ({ decisionId, reward }) => save.addOnce(decisionId, reward));
   */
  on<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  /** Like {@link Ads.on}, but only for the next event. */
  once<Name extends keyof AdsListeners>(
    event: Name,
    handler: AdsListeners[Name],
    context?: unknown,
  ): () => void;
  /**
   * Removes a handler. With `context`, removes it only if it was added with that context. Without `handler`, removes
   * all handlers for the event.
   */
  off<Name extends keyof AdsListeners>(
    event: Name,
    handler?: AdsListeners[Name],
    context?: unknown,
  ): void;
  /** Requests the status of one reward from the service. While offline, returns the status stored on this device. */
  rewardStatus(decisionId: string): Promise<RewardReport>;
  /** Returns the rewards on this device that have not been delivered yet. */
  rewards(): Promise<RewardReport[]>;
  /**
   * Switches to another player or changes the current player’s data, for example when a player signs in or out.
   * Replaces all four {@link UserOptions} immediately and discards preloaded ads. Rewards wait for the player who
   * earned them, unless they are transferred.
   *
   * @throws OptionError for an unknown option. Data that can't be used is left out, with a warning.
   *
   * @example
   * ads.setUser({ userRef: session.userId }, { transferRewards: true }); // a guest signed in
   * ads.setUser({}); // signed out
   */
  setUser(user: UserOptions, options?: SetUserOptions): void;
  /**
   * Sets the player’s consent, effective immediately. Discards ads that were preloaded under different consent.
   * Overrides the consent that `createAds({ consent: 'page' })` reads from the page.
   *
   * @throws OptionError for anything other than {@link ConsentOptions}.
   */
  setConsent(consent: ConsentOptions): void;
  /**
   * Forces the outcome of all subsequent requests. Call it without an outcome to stop. Works only in the sandbox.
   *
   * @throws OptionError for an unknown outcome.
   */
  simulate(outcome?: Simulation): void;
  diagnostics(): Diagnostics;
  /**
   * Opens or closes the debug panel, which shows the latest decisions and their reasons, the queue, the rewards, and
   * the steps in the last ad break. `?trueward-debug` in the URL also opens the panel.
   */
  toggleDebugPanel(): void;
  /**
   * Ends any ad in progress with the outcome `aborted`, resumes the game and stops all work. Stored events are kept.
   */
  destroy(): void;
}

/** The dependencies of {@link assembleAds}, created by `createAds()`. */
export interface AdsDeps {
  environment: 'sandbox' | 'live';
  /** Ends when the ads are destroyed. */
  lifetime: AbortController;
  decisions: Pick<Decisions, 'availability' | 'isLoaded' | 'preload'>;
  /** What ad breaks and banners need. */
  breakDeps: BreakDeps;
  rewards: Rewards;
  outbox: Outbox;
  events: Emitter<AdsListeners>;
  record: Recorder;
  /** Called when a player has watched a rewarded ad, but the page has no `reward` handler. */
  onUnhandledReward(): void;
  /** Called when anything that {@link AdsListeners.change} covers may have changed. */
  onChange(): void;
  setUser(user: UserOptions, options?: SetUserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: Simulation | undefined): void;
  destroy(): void;
}

/** Assembles the public `Ads` object from its dependencies. */
export function assembleAds(deps: AdsDeps): Ads {
  const { breakDeps, decisions, events, lifetime, onChange, outbox, record, rewards } = deps;
  /**
   * The call whose ad is being requested or is on the screen. Undefined once the ad has closed, even if the reward is
   * still pending.
   */
  let showing: { placement: string } | undefined;
  let ended = false;
  let stopRewards: (() => void) | undefined;

  const emit = <Name extends keyof AdsListeners>(
    name: Name,
    ...details: Parameters<AdsListeners[Name]>
  ): void => {
    if (!ended) events.emit(name, ...details);
  };

  /** Claims rewards only while this tab has a handler. Otherwise, leaves them to tabs that have one. */
  function syncRewardClaims(): void {
    if (ended || !events.hasListeners('reward')) {
      stopRewards?.();
      stopRewards = undefined;
    } else {
      stopRewards ??= rewards.onReward(async (earned) => {
        const handled = events.call('reward', earned);
        syncRewardClaims();
        await handled;
      });
    }
  }
  syncRewardClaims();

  /** Returns the result of a call that can't show an ad. */
  function refuse(options: ShowOptions): ShowResult | undefined {
    if (lifetime.signal.aborted) return { outcome: 'aborted', reason: 'destroyed' };
    const error = findCallError(options);
    if (error) return { outcome: 'error', reason: 'option_invalid', detail: error };
    if (!showing) return undefined;
    const detail = `The ad for ${showing.placement} has not ended.`;
    return { outcome: 'already_showing', detail };
  }

  async function show(
    placement: string,
    kind: BreakKind,
    givenOptions: ShowOptions = {},
  ): Promise<ShowResult> {
    const options = copyOptions(givenOptions);
    const refusal = refuse(options);
    if (refusal) {
      // As for any other call, the event follows the call.
      await Promise.resolve();
      emit('result', placement, refusal);
      return refusal;
    }
    const call = linkSignals(options.signal, lifetime.signal);
    const show = { placement };
    const resumeGame = (): void => {
      if (showing === show) showing = undefined;
    };
    showing = show;
    onChange();
    record.note('begin');
    const result = await runAdBreak(breakDeps, {
      ...options,
      placement,
      kind,
      signal: call.signal,
      onOpen() {
        record.note('open');
        emit('open', placement);
        options.onOpen?.();
      },
      onStart() {
        emit('start', placement);
      },
      onClose() {
        record.note('released');
        resumeGame();
        emit('close', placement);
        onChange();
        options.onClose?.();
      },
    })
      // Even a bug in the SDK must not leave the game paused.
      .catch((error: unknown): ShowResult => ({
        outcome: 'error',
        reason: 'sdk_error',
        detail: String(error),
      }));
    call.abort();
    resumeGame();
    record.onResult(placement, result);
    const isEarned = result.outcome === 'rewarded' || result.outcome === 'pending';
    if (isEarned && !ended && !events.hasListeners('reward')) deps.onUnhandledReward();
    emit('result', placement, result);
    onChange();
    return result;
  }

  const diagnostics = (): Diagnostics => ({
    environment: deps.environment,
    showing: showing?.placement ?? null,
    outbox: outbox.diagnostics(),
    rewards: rewards.diagnostics(),
  });

  /** Whether an ad of this instance, or of another one on this page, is being requested or shown. */
  const isShowing = (): boolean => (showing ?? findShownAd()) !== undefined;
  const availability: Ads['availability'] = (placement, options) =>
    isShowing()
      ? { available: false, outcome: 'already_showing' }
      : decisions.availability(placement, options);

  const listen =
    (method: 'on' | 'once'): Ads['on'] =>
    (event, handler, context) => {
      const remove = events[method](event, handler, context);
      syncRewardClaims();
      return () => {
        remove();
        syncRewardClaims();
      };
    };

  const panel = { record, diagnostics, rewards: rewards.list, signal: lifetime.signal };

  return {
    canShow: (placement, options) => availability(placement, options).available,
    isLoaded: (placement, options) => !isShowing() && decisions.isLoaded(placement, options),
    availability,
    preload: async (placement, givenOptions = {}) => {
      const options = copyOptions(givenOptions);
      if (findCallError(options))
        return { available: false, outcome: 'error', reason: 'option_invalid' };
      const call = linkSignals(options.signal, lifetime.signal);
      const describe = (): string =>
        JSON.stringify([
          decisions.availability(placement, options),
          decisions.isLoaded(placement, options),
        ]);
      const before = describe();
      const preloaded = await decisions.preload(placement, call.signal, options);
      call.abort();
      // A handler of `change` that preloads must not run for ever.
      if (describe() !== before) onChange();
      return preloaded;
    },
    showRewarded: (placement, options) => show(placement, 'rewarded', options),
    showInterstitial: (placement, options) => show(placement, 'interstitial', options),
    mountBanner(placement, element) {
      const bannerController = linkSignals(lifetime.signal);
      const { signal } = bannerController;
      const { clock, loadTimeoutMs } = breakDeps;
      const importPart = () => import('./ad-break/show-banner.ts');
      const mount = async (): Promise<ShowResult> => {
        const showBanner = await runWithTimeout(clock, loadTimeoutMs, signal, (loadSignal) =>
          loadPart(importPart, 'showBanner', { clock, signal: loadSignal }),
        );
        return typeof showBanner === 'function'
          ? showBanner({ ...breakDeps, note: record.note }, placement, element, signal)
          : { outcome: showBanner === 'timeout' ? showBanner : 'aborted' };
      };
      return { result: mount(), remove: () => bannerController.abort() };
    },
    on: listen('on'),
    once: listen('once'),
    off(event, handler, context) {
      events.off(event, handler, context);
      syncRewardClaims();
    },
    rewardStatus: rewards.status,
    rewards: rewards.list,
    setUser: deps.setUser,
    setConsent: deps.setConsent,
    simulate: deps.setSimulation,
    diagnostics,
    toggleDebugPanel() {
      const { clock } = breakDeps;
      const importPart = () => import('./debug/debug-tools.ts');
      loadPart(importPart, 'togglePanel', { clock, signal: lifetime.signal }).then(
        (togglePanel) => togglePanel(panel),
        // The ads were destroyed, so there is nothing to show.
        () => undefined,
      );
    },
    destroy() {
      if (lifetime.signal.aborted) return;
      lifetime.abort();
      ended = true;
      syncRewardClaims();
      deps.destroy();
    },
  };
}
