import { findShownAd, occupyPage } from './ad-break/occupy-page.ts';
import type { BreakDeps, BreakKind, BreakRequest } from './ad-break/run-ad-break.ts';
import type {
  Ads,
  AdsListeners,
  Diagnostics,
  PortalPage,
  SetUserOptions,
  ShowOptions,
} from './ads.ts';
import type { Recorder } from './debug/recorder.ts';
import type { Decisions } from './decision/decisions.ts';
import {
  copyOptions,
  type ConsentOptions,
  findCallError,
  type Simulation,
  type UserOptions,
} from './options.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { ShowResult } from './outcome.ts';
import type { Emitter } from './platform/emitter.ts';
import { linkSignals, runWithTimeout } from './platform/clock.ts';
import { loadPart } from './platform/load-part.ts';
import { createWallet } from './lazy-wallet.ts';
import type { Rewards } from './reward/rewards.ts';
import type { Wallet } from './wallet/wallet.ts';

/** The dependencies of {@link assembleAds}, created by `createAds()`. */
export interface AdsDeps {
  environment: 'sandbox' | 'live';
  /** Ends when the ads are destroyed. */
  lifetime: AbortController;
  decisions: Pick<Decisions, 'availability' | 'isLoaded' | 'preload'>;
  /** What banners need. */
  breakDeps: BreakDeps;
  /** Runs an ad break. Never rejects for an ad-related reason. */
  run(request: BreakRequest): Promise<ShowResult>;
  portal?: PortalPage | undefined;
  rewards: Rewards;
  outbox: Outbox;
  events: Emitter<AdsListeners>;
  record: Recorder;
  /** Called when a player has watched a rewarded ad, but the page has no `reward` handler. */
  onUnhandledReward(): void;
  /** Called when anything that {@link AdsListeners.change} covers may have changed. */
  onChange(): void;
  /** Loads the wallet. Rejects if the ads are destroyed. */
  openWallet(): Promise<Wallet>;
  isAdFree(): boolean;
  setUser(user: UserOptions, options?: SetUserOptions): void;
  setConsent(consent: ConsentOptions): void;
  setSimulation(outcome: Simulation | undefined): void;
  destroy(): void;
}

/** Assembles the public `Ads` object from its dependencies. */
export function assembleAds(deps: AdsDeps): Ads {
  const { breakDeps, decisions, events, lifetime, onChange, outbox, record, rewards } = deps;
  let ended = false;
  let stopRewards: (() => void) | undefined;
  const wallet = createWallet(deps.openWallet);

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

  /** Returns the result of a call that can't show an ad, whatever else is shown. */
  function refuse(options: ShowOptions): ShowResult | undefined {
    if (lifetime.signal.aborted) return { outcome: 'aborted', reason: 'destroyed' };
    const error = findCallError(options);
    return error ? { outcome: 'error', reason: 'option_invalid', detail: error } : undefined;
  }

  async function show(
    placement: string,
    kind: BreakKind,
    givenOptions: ShowOptions = {},
  ): Promise<ShowResult> {
    const options = copyOptions(givenOptions);
    const release = refuse(options) ?? occupyPage({ placement });
    if (typeof release === 'object') {
      // As for any other call, the event follows the call.
      await Promise.resolve();
      emit('result', placement, release);
      return release;
    }
    const call = linkSignals(options.signal, lifetime.signal);
    onChange();
    record.note('begin');
    const result = await deps
      .run({
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
          release();
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
    release();
    record.onResult(placement, result);
    const isEarned = result.outcome === 'rewarded' || result.outcome === 'pending';
    const isForGame = isEarned && result.reward?.credit !== 'wallet';
    if (isForGame && !ended && !events.hasListeners('reward')) deps.onUnhandledReward();
    emit('result', placement, result);
    onChange();
    return result;
  }

  const diagnostics = (): Diagnostics => ({
    environment: deps.environment,
    showing: findShownAd()?.placement ?? null,
    outbox: outbox.diagnostics(),
    rewards: rewards.diagnostics(),
  });

  const availability: Ads['availability'] = (placement, options) =>
    findShownAd()
      ? { available: false, outcome: 'already_showing' }
      : decisions.availability(placement, options);

  const listen =
    (method: 'on' | 'once'): Ads['on'] =>
    (event, handler, context) => {
      const remove = events[method](event, handler, context);
      syncRewardClaims();
      // Spends that an earlier page load left undelivered.
      if (event === 'spend') void wallet.refresh();
      return () => {
        remove();
        syncRewardClaims();
      };
    };

  const panel = { record, diagnostics, rewards: rewards.list, signal: lifetime.signal };

  return {
    portal: deps.portal,
    canShow: (placement, options) => availability(placement, options).available,
    isLoaded: (placement, options) => !findShownAd() && decisions.isLoaded(placement, options),
    availability,
    isAdFree: deps.isAdFree,
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
    wallet,
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
