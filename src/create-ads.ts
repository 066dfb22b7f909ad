import { runAdBreak } from './ad-break/run-ad-break.ts';
import type { Ads, AdsListeners } from './ads.ts';
import { type AdsDeps, assembleAds } from './assemble-ads.ts';
import {
  connectivityWhenConsentKnown,
  createPlayerContext,
  fetchWhenConsentKnown,
  isGuestRef,
} from './player-context.ts';
import { loadCreative } from './creative/load-creative.ts';
import { loadText } from './creative/strings.ts';
import { createRecorder, createWarnings, loadLog, loggedFetch } from './debug/recorder.ts';
import { createAdRules } from './decision/ad-rules.ts';
import { createDecisions } from './decision/decisions.ts';
import { callInNextFrame } from './engine/next-frame.ts';
import { keepRunning } from './engine/engine-driver.ts';
import { noEngine } from './engine/no-engine.ts';
import {
  type AdsOptions,
  checkConsent,
  checkOptions,
  checkSimulation,
  checkUser,
  type PortalAdsOptions,
  type UserOptions,
} from './options.ts';
import { createOutbox } from './outbox/outbox.ts';
import { createIndexedDbStore } from './outbox/event-store.ts';
import { systemClock } from './platform/clock.ts';
import { browserPresence } from './platform/locks.ts';
import { browserConnectivity, browserPageLifecycle, onOffline } from './platform/page.ts';
import { onInput, openFrontDoor } from './platform/front-door.ts';
import { native } from './platform/native.ts';
import { createEmitter, type Emitter } from './platform/emitter.ts';
import { newRandomId } from './platform/ids.ts';
import { startPortalMode } from './portal-mode.ts';
import { importPageAds } from './portal-parts.ts';
import type { PageAds } from './portal/connect-page-ads.ts';
import { browserTabChannel } from './platform/page.ts';
import { loadPart } from './platform/load-part.ts';
import { createLedger } from './reward/ledger.ts';
import { createRewards } from './reward/rewards.ts';
import { createReachability } from './transport/reachability.ts';
import { findObstacle } from './transport/reach-service.ts';
import { createServiceClient } from './transport/service-client.ts';
import { unavailableAds } from './unavailable-ads.ts';

// At load, so that it is normally the first to listen.
openFrontDoor();

/** Timeout for one request, in milliseconds. The load timeout may end a request earlier. */
const requestTimeoutMs = 10_000;
/**
 * How long an ad may wait for its translation, in milliseconds after the start. Usually, it has loaded long before the
 * first ad.
 */
const translationWaitMs = 2_000;

/** As many waiting rewards as a request may report. */
const maxWaiting = 1_000;

/** Take the place of `fetch` and of our own ads on a portal. */
const refuseRequest = () => Promise.reject(new Error('portal_only'));
const refuseAd = async () => ({ outcome: 'invalid_placement', reason: 'portal_only' }) as const;

/**
 * Initializes ads for one game. Doesn’t request any ads yet, but sends queued events and resumes processing rewards left
 * unfinished by earlier page loads. Without a page, as in Node, calls have no effect: every call to show an ad ends
 * with the outcome `error` and the reason `no_dom`.
 *
 * @throws OptionError for a missing or invalid option, and for a secret key. Throws nothing else.
 *
 * @example
 * const ads = createAds({ publishableKey: 'pk_sandbox_…', serviceUrl: 'https://play.example', userRef });
 * ads.on('reward', ({ decisionId, reward }) => save.addOnce(decisionId, reward));
 * const { outcome } = await ads.showRewarded('revive');
 *
 * @example
 * // The compiler finds misspelled placements.
 * const ads = createAds<'revive' | 'level-end'>({ publishableKey: 'pk_sandbox_…', serviceUrl: 'https://play.example' });
 */
export function createAds<Placement extends string = string>(
  options: AdsOptions | PortalAdsOptions,
): Ads<Placement> {
  return startAds(options, createEmitter());
}

/** Like {@link createAds}, but uses an existing emitter, whose handlers outlive the returned instance. */
export function startAds(
  options: AdsOptions | PortalAdsOptions,
  events: Emitter<AdsListeners>,
): Ads {
  const validOptions = checkOptions(options);
  const { environment, gameId, publishableKey, serviceUrl, locale, portal } = validOptions;
  // There is no document during server-side rendering.
  if (typeof document === 'undefined') return unavailableAds('no_dom', events, environment);
  // All of a game's tabs share this name, also after its key was rolled. Other games use different names.
  const name = `trueward:${environment}_${gameId}@${new URL(serviceUrl).host}`;
  const driver = validOptions.engine ?? noEngine();
  const engine = validOptions.keepRunning ? keepRunning(driver) : driver;
  const player = createPlayerContext(validOptions, systemClock);
  let ended = false;
  const lifetime = new native.AbortController();
  const { signal } = lifetime;
  const log = validOptions.debug ? loadLog({ clock: systemClock, signal }) : undefined;
  const recorder = createRecorder(systemClock, log);
  const warn =
    environment === 'sandbox' ? createWarnings({ clock: systemClock, signal }) : undefined;
  /** Emits `change`, except after `destroy()`. */
  const emitChange = (): void => {
    if (!ended) events.emit('change');
  };
  const ports = {
    name,
    clock: systemClock,
    random: Math.random,
    newId: newRandomId,
    connectivity: connectivityWhenConsentKnown(player, browserConnectivity),
    lifecycle: browserPageLifecycle,
    openTabChannel: browserTabChannel,
  };
  // The SDK has no other way into the network, so on a portal it sends nothing.
  const baseFetch = portal ? refuseRequest : (validOptions.fetch ?? native.fetch);
  const fetch = fetchWhenConsentKnown(player, log ? loggedFetch(baseFetch, log) : baseFetch);
  const reachability = createReachability({
    clock: systemClock,
    connectivity: browserConnectivity,
    onOffline,
    onChange: emitChange,
  });
  const client = reachability.watch(
    createServiceClient({
      ...ports,
      serviceUrl,
      publishableKey,
      fetch,
      timeoutMs: requestTimeoutMs,
    }),
  );
  const outbox = createOutbox({
    ...ports,
    client,
    store: createIndexedDbStore({ ...ports, name: `${name}:outbox` }),
  });
  const deliver = (callback: () => void) => callInNextFrame(engine, callback);
  const ledger = createLedger({
    ...ports,
    name: `${name}:rewards`,
    // Every step in a reward's lifecycle, from confirmation to delivery, changes its entry.
    onChange(entry) {
      log?.({ type: 'reward', entry });
      emitChange();
    },
  });
  const rewards = createRewards({
    ...ports,
    client,
    ledger,
    player,
    presence: browserPresence(ports.newId),
    deliver,
  });
  player.onIdentified(() => void rewards.refresh().then(emitChange));
  outbox.onRewards((statuses) => void rewards.settle(statuses));
  const adRules = createAdRules({
    ...ports,
    name: `${name}:ad-rules`,
    isConsentKnown: player.isConsentKnown,
    storage: () => localStorage,
    onChange: emitChange,
  });
  const decisions = createDecisions({
    ...ports,
    ...validOptions,
    adRules: {
      ...adRules,
      session(userRef) {
        const waiting = Math.min(rewards.countWaiting(), maxWaiting);
        return { ...adRules.session(userRef), ...(waiting && { waiting_rewards: waiting }) };
      },
    },
    client,
    isConsentKnown: player.isConsentKnown,
    isOnline: browserConnectivity.isOnline,
    isReachable: reachability.isReachable,
    findObstacle: (obstacleSignal) => findObstacle({ ...ports, fetch }, serviceUrl, obstacleSignal),
    profile: player.current,
    makeGuest: async () => (await openWallet()).identify(),
    onResponse(placement, response) {
      recorder.onResponse(placement, response);
      reachability.note(response);
      if (response.kind !== 'ok' || response.body.mistakes)
        warn?.({ type: 'response', placement, serviceUrl, response });
    },
    onChange: emitChange,
    pageAdapters: (placement) => pageAds?.list(placement),
    loadCreative: (decision, loadSignal) =>
      pageAds?.load(decision, loadSignal) ??
      loadCreative(decision, { clock: systemClock, signal: loadSignal, locale }),
  });
  let pageAds: PageAds | undefined;
  const loadPageAds = async (): Promise<void> => {
    const connect = await loadPart(importPageAds, 'connectPageAds', { ...ports, signal });
    pageAds = connect({
      ...breakDeps,
      onInput,
      pageAds: validOptions.pageAds,
      onShown: decisions.onImpression,
      signal,
    });
  };
  // Rejects only when the ads are destroyed.
  if (validOptions.pageAds && !portal) loadPageAds().catch(() => undefined);
  const portalMode =
    portal &&
    startPortalMode({
      ...ports,
      ...validOptions,
      portal,
      engine,
      onInput,
      rewards,
      findHold: decisions.findHold,
      onShown(ad) {
        adRules.take(ad);
        decisions.onImpression(ad.id);
      },
      signal,
      onChange: emitChange,
    });
  const breakDeps: AdsDeps['breakDeps'] = {
    ...validOptions,
    clock: systemClock,
    take: portal ? refuseAd : decisions.take,
    showInPage: (...call) => pageAds?.run(...call),
    engine,
    rewards,
    enqueue(event, after) {
      recorder.note(event.type);
      if (event.type === 'impression') decisions.onImpression(event.decision_id);
      return outbox.enqueue(event, after);
    },
    text: loadText({
      locale,
      overrides: validOptions.strings,
      waitMs: Math.min(translationWaitMs, validOptions.loadTimeoutMs / 2),
      clock: systemClock,
      signal,
    }),
  };
  const switchPlayer = (user: UserOptions, transferFrom?: string): void => {
    player.setUser(user);
    void rewards.setPlayer(transferFrom).then(emitChange);
  };
  let opening: ReturnType<typeof loadWallet> | undefined;
  const loadWallet = async () => {
    const importPart = () => import('./wallet/open-wallet.ts');
    const deps = { ...ports, signal, client, player, events, ledger, deliver };
    const open = await loadPart(importPart, 'openWallet', deps);
    return open({
      ...deps,
      onChange: emitChange,
      onEntitled: () => decisions.forget(),
      moveRewards: (from) => void rewards.setPlayer(from).then(emitChange),
      setUser: switchPlayer,
    });
  };
  const openWallet = () => (opening ??= loadWallet());
  // An ad requested with the previous options must not be shown.
  player.onChange(() => {
    decisions.forget();
    emitChange();
  });

  const ads = assembleAds({
    environment,
    lifetime,
    decisions,
    breakDeps,
    run: (request) => runAdBreak(breakDeps, request),
    ...portalMode,
    rewards,
    outbox,
    events,
    record: recorder,
    openWallet,
    isAdFree: player.isAdFree,
    setUser(user, options) {
      const cleanUser = checkUser(user);
      const previousRef = player.player().ref;
      const transferFrom = options?.transferRewards ? previousRef : undefined;
      switchPlayer(cleanUser, transferFrom);
      // The device may have a guest who has not played since the page was loaded.
      if (transferFrom !== '' && !isGuestRef(transferFrom)) return;
      const target = player.player();
      openWallet().then(
        (wallet) => wallet.transfer(target),
        () => undefined,
      );
    },
    setConsent(consent) {
      checkConsent(consent);
      player.setConsent(consent);
    },
    setSimulation(outcome) {
      checkSimulation(outcome);
      player.setSimulation(outcome);
    },
    onUnhandledReward: () => warn?.({ type: 'unhandledReward' }),
    onChange: emitChange,
    destroy() {
      ended = true;
      reachability.stop();
      player.destroy();
      decisions.destroy();
      adRules.destroy();
      rewards.destroy();
      outbox.destroy();
    },
  });
  if (new URLSearchParams(globalThis.location?.search).has('trueward-debug'))
    ads.toggleDebugPanel();
  return ads;
}
