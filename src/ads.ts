import type { Decision } from '../protocol/wire.ts';
import type { BreakKind } from './ad-break/run-ad-break.ts';
import type { Recorder } from './debug/recorder.ts';
import {
  type ConsentOptions,
  findCallError,
  type RequestOptions,
  type Simulation,
  type UserOptions,
} from './options.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { OutboxDiagnostics } from './outbox/storage.ts';
import type { Availability, RewardReport, ShowResult } from './outcome.ts';
import type { Emitter } from './platform/emitter.ts';
import { surface } from './platform/guard.ts';
import { linkSignals } from './platform/clock.ts';
import type { Requests } from './requests.ts';
import type { RewardDiagnostics, Rewards } from './reward/rewards.ts';
import type { RewardHandler } from './reward/delivery.ts';

/**
 * Options of one `preload()` call. A later show uses the preloaded ad only if both calls have the same
 * `customData` and `segments`; otherwise it requests another.
 */
export interface PreloadOptions extends RequestOptions {
  signal?: AbortSignal;
  /**
   * A decision that your own server asked for with its secret key, as it was answered. The next show of
   * the placement uses it; so no client can claim another player’s name.
   */
  decision?: Decision;
}

/** Options of one call to show an ad. */
export interface ShowOptions extends RequestOptions {
  /** Whether the ad starts without sound. Default: the `muted` option of `createAds()`. */
  muted?: boolean;
  /** Ends the call with `aborted`, whatever it is at. */
  signal?: AbortSignal;
  /** The ad is about to cover the game, which is held from here on. */
  onOpen?: () => void;
  /** The ad is gone and the game goes on; the result may still wait for its confirmation. */
  onClose?: () => void;
}

/** Options of `setUser()`. */
export interface SetUserOptions {
  /**
   * Delivers the previous player’s undelivered and pending rewards to the new player. The service still credits
   * them to the previous player, whom `EarnedReward.userRef` names. Default: `false`: they wait for the previous
   * player.
   */
  transferRewards?: boolean;
}

/** A house ad inside the page. */
export interface Banner {
  /** Removes it from the page or aborts its request. May be called more than once. */
  remove(): void;
  /** Resolves with `completed` once the banner is on the page, otherwise with the reason that it was not shown. */
  readonly result: Promise<ShowResult>;
}

/** The events of `ads.on()` and the arguments of their handlers. */
export interface AdsListeners {
  /** An ad is about to cover the game. */
  open: (placement: string) => void;
  /** The first frame of the ad is on the screen. */
  start: (placement: string) => void;
  /** The ad is closed and the game runs again, at the same moment as `onClose`; follows every `open`. */
  close: (placement: string) => void;
  /** A call to show an ad has ended, with an ad or without one. */
  result: (placement: string, result: ShowResult) => void;
  /**
   * The result of `canShow()`, `availability()`, `rewards()` or `diagnostics()` may have changed: a preload or
   * show began or ended, a cooldown or cap ended, the consent, player or network changed, or a reward was
   * confirmed or delivered.
   */
  change: () => void;
  /**
   * A confirmed reward: on the engine’s frame, once per decision, and again after a crash or a reload
   * until the handler has finished, or the promise that it returns has resolved.
   */
  reward: RewardHandler;
}

/** The state of the SDK, for a support request or a debugging screen. */
export interface Diagnostics {
  environment: 'sandbox' | 'live';
  /** The placement whose ad is being requested or is on the screen. */
  showing: string | null;
  outbox: OutboxDiagnostics;
  rewards: RewardDiagnostics;
}

/** Ads for one game. No call throws for an ad-related reason, and every promise settles. */
export interface Ads {
  /** Whether an ad can be offered now, as far as this device knows. Synchronous, without any effect. */
  canShow(placement: string): boolean;
  /** Like {@link Ads.canShow}, with the reason if not and when a request can succeed again. */
  availability(placement: string): Availability;
  /** Gets the decision and the media ready, so that showing it later is instant. */
  preload(placement: string, options?: PreloadOptions): Promise<Availability>;
  /**
   * Shows an ad that earns the placement’s reward.
   *
   * @example
   * const result = await ads.showRewarded('revive');
   * if (result.outcome === 'rewarded' || result.outcome === 'pending') revivePlayer();
   */
  showRewarded(placement: string, options?: ShowOptions): Promise<ShowResult>;
  /** Shows an ad between two parts of the game. */
  showInterstitial(placement: string, options?: ShowOptions): Promise<ShowResult>;
  /** Puts a house ad into an element of the page, until it is removed or `destroy()` is called. */
  mountBanner(placement: string, element: HTMLElement): Banner;
  /**
   * Calls `handler` on every `event`, with `context` as its `this`. An error that a handler throws is reported as
   * uncaught. Returns a function that removes the handler.
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
  /** Removes a handler, whatever its context unless one is given; without `handler`, removes all handlers of the
   * event. */
  off<Name extends keyof AdsListeners>(
    event: Name,
    handler?: AdsListeners[Name],
    context?: unknown,
  ): void;
  /** Asks the service about one reward; while offline, answers from this device. */
  rewardStatus(decisionId: string): Promise<RewardReport>;
  /** The rewards that this device knows of and that have not been handed over yet. */
  rewards(): Promise<RewardReport[]>;
  /**
   * Switches to another player, or changes the data of the current one, as when a guest signs in or a player
   * signs out. Replaces all four options immediately and discards preloaded ads. Rewards wait for the player who
   * earned them unless they are transferred.
   *
   * @throws OptionError for a wrong option, as `createAds()` does.
   *
   * @example
   * ads.setUser({ userRef: session.userId }, { transferRewards: true }); // a guest signed in
   * ads.setUser({}); // signed out
   */
  setUser(user: UserOptions, options?: SetUserOptions): void;
  /**
   * Takes effect at once: ads that were preloaded under another consent are discarded. Replaces the consent of the page
   * that `createAds({ consent: 'page' })` reads.
   *
   * @throws OptionError for anything but a {@link ConsentOptions}.
   */
  setConsent(consent: ConsentOptions): void;
  /**
   * Sandbox only: forces the outcome of all later requests, until it is called without one.
   *
   * @throws OptionError for an unknown outcome.
   */
  simulate(outcome?: Simulation): void;
  diagnostics(): Diagnostics;
  /**
   * Opens the development overlay, or closes it: the last decisions and why they came out so, the queue,
   * the rewards, and what the last break went through. `?trueward-debug` in the address opens it too.
   */
  toggleDebugPanel(): void;
  /** Ends a running ad with `aborted`, gives the game back and stops all work. Stored events stay stored. */
  destroy(): void;
}

/** The dependencies of {@link assembleAds}, created by `createAds()`. */
export interface AdsDeps {
  environment: 'sandbox' | 'live';
  requests: Requests;
  rewards: Rewards;
  outbox: Outbox;
  events: Emitter<AdsListeners>;
  record: Recorder;
  /** Emits `change`. */
  changed(): void;
  setUser(user: UserOptions, options?: SetUserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: Simulation | undefined): void;
  destroy(): void;
}

/** Creates the public object from its parts. */
export function assembleAds(deps: AdsDeps): Ads {
  const { changed, events, outbox, record, requests, rewards } = deps;
  const destroyed = new AbortController();
  /** The call whose ad is being requested or is on the screen; undefined while only its confirmation is pending. */
  let showing: { placement: string } | undefined;
  let ended = false;
  let stopRewards: (() => void) | undefined;

  const emit = <Name extends keyof AdsListeners>(
    name: Name,
    ...details: Parameters<AdsListeners[Name]>
  ): void => {
    if (!ended) events.emit(name, ...details);
  };

  /** Rewards are claimed only while there is a handler: another tab may have one. */
  function takeRewards(): void {
    if (ended || !events.hasListeners('reward')) {
      stopRewards?.();
      stopRewards = undefined;
    } else {
      stopRewards ??= rewards.onReward(async (earned) => {
        const taken = events.call('reward', earned);
        takeRewards();
        await taken;
      });
    }
  }
  takeRewards();

  async function show(
    placement: string,
    kind: BreakKind,
    options: ShowOptions = {},
  ): Promise<ShowResult> {
    if (destroyed.signal.aborted) return { outcome: 'aborted', reason: 'destroyed' };
    const error = findCallError(options);
    if (error) return { outcome: 'error', reason: 'option_invalid', detail: error };
    if (showing)
      return {
        outcome: 'already_showing',
        detail: `The ad of ${showing.placement} has not ended.`,
      };
    const call = linkSignals(options.signal, destroyed.signal);
    const show = { placement };
    const resumeGame = (): void => {
      if (showing === show) showing = undefined;
    };
    showing = show;
    changed();
    record.note('begin');
    const result = await requests
      .runBreak({
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
          changed();
          options.onClose?.();
        },
      })
      // A defect of ours must not lock the game either.
      .catch((error: unknown): ShowResult => ({
        outcome: 'error',
        reason: 'sdk_error',
        detail: String(error),
      }));
    call.abort();
    resumeGame();
    record.ended(placement, result);
    emit('result', placement, result);
    changed();
    return result;
  }

  const diagnostics = (): Diagnostics => ({
    environment: deps.environment,
    showing: showing?.placement ?? null,
    outbox: outbox.diagnostics(),
    rewards: rewards.diagnostics(),
  });

  const availability = (placement: string): Availability =>
    showing ? { available: false, reason: 'already_showing' } : requests.availability(placement);

  const listen =
    (method: 'on' | 'once'): Ads['on'] =>
    (event, handler, context) => {
      const remove = events[method](event, handler, context);
      takeRewards();
      return () => {
        remove();
        takeRewards();
      };
    };

  const panel = { record, diagnostics, rewards: rewards.list, ended: destroyed.signal };

  return {
    canShow: (placement) => availability(placement).available,
    availability,
    preload: async (placement, options = {}) => {
      if (findCallError(options)) return { available: false, reason: 'error' };
      const call = linkSignals(options.signal, destroyed.signal);
      const preloaded = await requests.preload(placement, call.signal, options);
      call.abort();
      changed();
      return preloaded;
    },
    showRewarded: (placement, options) => show(placement, 'rewarded', options),
    showInterstitial: (placement, options) => show(placement, 'interstitial', options),
    mountBanner(placement, element) {
      const shown = linkSignals(destroyed.signal);
      return {
        result: requests.showBanner(placement, element, shown.signal),
        remove: () => shown.abort(),
      };
    },
    on: listen('on'),
    once: listen('once'),
    off(event, handler, context) {
      events.off(event, handler, context);
      takeRewards();
    },
    rewardStatus: rewards.status,
    rewards: rewards.list,
    setUser: deps.setUser,
    setConsent: deps.setConsent,
    simulate: deps.setSimulation,
    diagnostics,
    toggleDebugPanel() {
      import('./debug/open-panel.ts').then(
        ({ togglePanel }) => togglePanel(panel),
        () => surface(new Error('trueward: chunk_not_loaded: the code of the debug panel')),
      );
    },
    destroy() {
      if (destroyed.signal.aborted) return;
      destroyed.abort();
      ended = true;
      takeRewards();
      deps.destroy();
    },
  };
}
