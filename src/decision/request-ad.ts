import type {
  Decision,
  DecisionCreative,
  DecisionRequest,
  PlayerSession,
} from '../../protocol/wire.ts';
import type { Profile, Player } from '../player-context.ts';
import type { LoadedCreative } from '../creative/renderer.ts';
import type { RequestOptions } from '../options.ts';
import {
  runWithTimeout,
  type Clock,
  type Deadline,
  createDeadline,
  startStopwatch,
} from '../platform/clock.ts';
import type { Reason } from '../outcome.ts';
import { has, messageOf } from '../platform/guard.ts';
import { getUserToken } from '../user-token.ts';
import type { AdRules } from './ad-rules.ts';
import type { ServiceResult, ServiceClient } from '../transport/service-client.ts';
import type { Obstacle } from '../transport/reach-service.ts';
import { type NoAd, durationMs, noAdFromResponse, noAdFromDecision } from './no-ad.ts';
import { canBeShown, isDecision, readDecision } from './read-decision.ts';

/** A decision with an ad. */
export type FilledDecision = Decision & {
  status: 'filled';
  creative: DecisionCreative;
  token: string;
};

/** An ad that can be shown immediately. Its owner must destroy the creative. */
export interface ReadyAd {
  /** The player for whom the ad was requested. */
  player?: Player | undefined;
  decision: FilledDecision;
  creative: LoadedCreative;
  /** Whether the game's own server has requested the decision. The SDK then requests no other one in its place. */
  isProvided?: boolean;
  /** When the ad expires. The service does not count an ad that starts after this time. */
  expiry: Deadline;
}

/**
 * Builds the body of an ad request. The call's options override the user's. In child-directed mode, custom data and
 * segments never leave the device.
 */
export function buildRequestBody(
  placement: string,
  locale: string,
  { user, consent, simulate }: Profile,
  call: RequestOptions = {},
  userToken?: string,
  session?: PlayerSession,
): DecisionRequest {
  const { childDirected, userRef } = user;
  const { customData = user.customData, segments = user.segments } = childDirected ? {} : call;
  return {
    placement,
    viewport: { width: Math.max(1, innerWidth), height: Math.max(1, innerHeight) },
    locale,
    ...(userRef !== undefined && { user_ref: userRef }),
    ...(userToken !== undefined && { user_token: userToken }),
    ...(customData !== undefined && { custom_data: customData }),
    ...(childDirected !== undefined && { child_directed: childDirected }),
    ...(segments && { segments }),
    ...(consent && {
      consent: {
        status: consent.status,
        ...(consent.tcfString !== undefined && { tcf_string: consent.tcfString }),
        ...(consent.gppString !== undefined && { gpp_string: consent.gppString }),
      },
    }),
    ...(session && { session }),
    ...(simulate && { simulate }),
  };
}

/** The options of one ad request. */
export interface AdRequestOptions extends RequestOptions {
  /** Whether the ad must not be one of an ad SDK in the page, because one of them had none. */
  withoutPageAds?: boolean;
}

export interface RequestAdDeps extends RequestDecisionDeps {
  locale: string;
  /** The current consent and user. */
  profile(): Profile;
  /** Makes a guest player, because the service requires a player. If it succeeds, the ad is requested again. */
  makeGuest?(): Promise<unknown>;
  adRules: Pick<AdRules, 'learn' | 'session'>;
  /** Returns why the player may not see an ad now. The user token may just have shown that. */
  findHold(placement: string, options: RequestOptions): NoAd | undefined;
  /** Returns the ad SDKs in the page that are ready to show an ad. */
  pageAdapters?(placement: string): string[] | undefined;
  /** Called with the result of each request. */
  onResponse?(placement: string, response: ServiceResult<Decision>): void;
  /** Loads a decision's media. Rejects if that fails or `signal` aborts. */
  loadCreative(decision: FilledDecision, signal: AbortSignal): Promise<LoadedCreative>;
  /** Timeout in milliseconds. It applies separately to loading the media and to obtaining the user token. */
  loadTimeoutMs: number;
}

const isFilled = (decision: Decision): decision is FilledDecision =>
  decision.status === 'filled' && decision.creative !== undefined && decision.token !== undefined;

/** Whether both decisions have the same media. */
const hasSameMedia = (a: FilledDecision, b: FilledDecision): boolean =>
  JSON.stringify(a.creative) === JSON.stringify(b.creative) && a.min_watch_ms === b.min_watch_ms;

/**
 * The message of the error with which {@link RequestAdDeps.loadCreative} rejects if an ad SDK in the page has no ad, and
 * the reason of a call that ends there.
 */
const noPageAd = 'no_page_ad' satisfies Reason;
export type NoPageAd = typeof noPageAd;

/**
 * Requests a decision and loads its media. If `previous` has the same media, reuses it. If an ad SDK in the page was to
 * show its ad, but has none, requests one more decision, without such ads.
 */
export async function requestAd(
  deps: RequestAdDeps,
  call: {
    placement: string;
    options: AdRequestOptions;
    signal: AbortSignal;
    previous: ReadyAd | undefined;
  },
): Promise<ReadyAd | NoAd> {
  const { placement, options, signal, previous } = call;
  const profile = deps.profile();
  const tokenResult = await getUserToken(profile.user.userToken, {
    clock: deps.clock,
    timeoutMs: deps.loadTimeoutMs,
    signal,
  });
  if (has(tokenResult, 'outcome')) return tokenResult;
  const userToken = profile.user.childDirected ? undefined : tokenResult.userToken;
  const hold = deps.findHold(placement, options);
  if (hold) return hold;
  const session = deps.adRules.session(profile.user.userRef);
  const adapters = options.withoutPageAds ? undefined : deps.pageAdapters?.(placement);
  const request = {
    ...buildRequestBody(placement, deps.locale, profile, options, userToken, session),
    ...(adapters?.length && { page_adapters: adapters }),
  };
  // The decision's age is measured from the request, because the device may sleep while waiting for the response.
  const ageMs = startStopwatch(deps.clock);
  const response = await requestDecision(deps, request, signal);
  deps.onResponse?.(placement, response);
  if (response.kind === 'refused' && response.problem.code.startsWith('player_'))
    await deps.makeGuest?.();
  if (signal.aborted) return { outcome: 'aborted' };
  if (response.kind !== 'ok') return noAdFromResponse(response, deps.clock.now());
  const ad = await loadAdFromDecision(deps, response.body, ageMs, signal, previous);
  return !has(ad, 'creative') && ad.reason === noPageAd && !options.withoutPageAds
    ? requestAd(deps, { ...call, options: { ...options, withoutPageAds: true } })
    : ad;
}

/** Loads the media for a decision from the game's own server. */
export async function loadProvidedDecision(
  deps: RequestAdDeps,
  placement: string,
  signal: AbortSignal,
  decision: unknown,
): Promise<ReadyAd | NoAd> {
  if (!isDecision(decision)) return { outcome: 'error', reason: 'decision_malformed' };
  // A decision for another placement does not affect this placement's availability, so it is not recorded: only this
  // call fails.
  if (decision.placement !== placement)
    return {
      outcome: 'error',
      reason: 'wrong_placement',
      detail: `The decision is for placement ${decision.placement}.`,
    };
  return loadAdFromDecision(deps, readDecision(decision), startStopwatch(deps.clock), signal);
}

async function loadAdFromDecision(
  deps: RequestAdDeps,
  decision: Decision,
  ageMs: () => number,
  signal: AbortSignal,
  previous?: ReadyAd,
): Promise<ReadyAd | NoAd> {
  deps.adRules.learn(decision);
  if (decision.status !== 'filled') return noAdFromDecision(decision, deps.clock.now());
  if (!isFilled(decision))
    return { outcome: 'error', reason: 'incomplete_decision', decisionId: decision.id };
  if (!canBeShown(decision))
    return { outcome: 'error', reason: 'decision_malformed', decisionId: decision.id };
  const lifetimeMs = durationMs(decision.issued_at, decision.expires_at);
  const expiry = createDeadline(deps.clock, lifetimeMs, ageMs);
  if (previous && hasSameMedia(previous.decision, decision))
    return { decision, creative: previous.creative, expiry };
  return loadMedia(deps, decision, expiry, signal);
}

/** Loads a decision's media, with a timeout. */
export async function loadMedia(
  deps: RequestAdDeps,
  decision: FilledDecision,
  expiry: Deadline,
  callerSignal: AbortSignal,
): Promise<ReadyAd | NoAd> {
  const decisionId = decision.id;
  let creative: LoadedCreative | undefined;
  let detail = '';
  const destroyCreative = (): void => {
    creative?.destroy();
    creative = undefined;
  };
  const result = await runWithTimeout(
    deps.clock,
    deps.loadTimeoutMs,
    callerSignal,
    async (signal) => {
      try {
        creative = await deps.loadCreative(decision, signal);
      } catch (error) {
        detail = messageOf(error);
        throw error;
      }
      // A renderer may still finish after an abort.
      if (signal.aborted) destroyCreative();
      return { decision, creative, expiry };
    },
  );
  // Loading may have finished just before the abort or the timeout.
  if (typeof result === 'string') destroyCreative();
  switch (result) {
    case 'aborted':
      return { outcome: 'aborted', decisionId };
    case 'timeout':
      return { outcome: 'timeout', reason: 'load_timeout', decisionId };
    case 'failed':
      if (detail === 'blocked') return { outcome: 'ad_blocked', reason: detail, decisionId };
      if (detail === noPageAd) return { outcome: 'no_fill', reason: detail, decisionId };
      return { outcome: 'error', reason: 'load_failed', detail, decisionId };
    default:
      return result;
  }
}

export interface RequestDecisionDeps {
  client: Pick<ServiceClient, 'call'>;
  clock: Clock;
  /** Whether the browser reports a network connection. */
  isOnline(): boolean;
  /** Finds out why a request failed. Rejects if nothing responds at the service's URL. */
  findObstacle(signal: AbortSignal): Promise<Obstacle>;
}

/**
 * If a request fails within this many milliseconds, an ad blocker may have blocked it. Ad blockers make requests fail
 * immediately. Network failures take longer, except for refused connections.
 */
const immediateFailureMs = 1_000;
/** Timeout for finding out why a request failed, in milliseconds. */
const obstacleTimeoutMs = 5_000;

/** Requests a decision. If the request fails immediately, checks whether an ad blocker blocked it. */
export async function requestDecision(
  { client, clock, findObstacle, isOnline }: RequestDecisionDeps,
  body: DecisionRequest,
  signal: AbortSignal,
): Promise<ServiceResult<Decision>> {
  const startedAt = clock.monotonic();
  const response = await client.call('/v1/decisions', isDecision, { body, signal });
  if (response.kind === 'ok') return { ...response, body: readDecision(response.body) };
  const failed = response.kind === 'unreachable' && response.cause === 'network';
  if (!failed || !isOnline() || clock.monotonic() - startedAt >= immediateFailureMs)
    return response;
  const result = await runWithTimeout(clock, obstacleTimeoutMs, signal, async (checkSignal) => ({
    cause: await findObstacle(checkSignal),
  }));
  return typeof result === 'object' ? { kind: 'unreachable', ...result } : response;
}
