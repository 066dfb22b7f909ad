import type { Decision } from '../../protocol/wire.ts';
import type { Outcome, Reason, UnfilledReason } from '../outcome.ts';
import { native } from '../platform/native.ts';
import type { ServiceResult } from '../transport/service-client.ts';

/** Why there is no ad. */
export interface NoAd {
  outcome: Outcome;
  reason?: Reason;
  /** Details for developers. */
  detail?: string;
  /** When a request can succeed again. Until then, calls return this result without sending a request. */
  retryAt?: Date;
  decisionId?: string;
}

/** Returns the time between two of the service's timestamps. The result does not depend on the device's clock. */
export const durationMs = (start: string, end: string): number =>
  native.Date.parse(end) - native.Date.parse(start);

/**
 * The shortest and the longest time to wait for the next request, in milliseconds. A button requests the next ad as
 * soon as the time is over, so a shorter one would make it ask without end. No frequency cap lasts longer.
 */
const minWaitMs = 1_000;
const maxWaitMs = 30 * 86_400_000;

/** Returns when a request can succeed again. Nothing is known if that time is over already, or was malformed. */
const retryAfter = (waitMs: number, nowMs: number): Pick<NoAd, 'retryAt'> =>
  waitMs > 0
    ? { retryAt: new native.Date(nowMs + Math.min(Math.max(waitMs, minWaitMs), maxWaitMs)) }
    : {};

/** Outcomes for the reasons that map to an outcome other than `no_fill`. */
const outcomeByReason: Partial<Record<UnfilledReason, Outcome>> = {
  ad_free: 'ad_free',
  frequency_capped: 'frequency_capped',
  cooldown: 'cooldown',
  rate_limited: 'cooldown',
  killed: 'killed',
  policy: 'blocked',
  commercial: 'blocked',
  brand_safety: 'blocked',
  consent_required: 'not_ready',
};

const outcomeByCause: Record<
  Extract<ServiceResult<unknown>, { kind: 'unreachable' }>['cause'],
  Outcome
> = {
  timeout: 'timeout',
  network: 'offline',
  blocked: 'ad_blocked',
  // Probably a captive portal: there is a network, but no connection to the service.
  unexpected_response: 'offline',
  aborted: 'aborted',
};

/** Creates the `NoAd` for a decision without an ad. */
export function noAdFromDecision(decision: Decision, nowMs: number): NoAd {
  const { reason, retry_at: retryAt } = decision;
  const outcomeByStatus = decision.status === 'blocked' ? 'blocked' : 'no_fill';
  // A reason may have the name of a property that every object has.
  const isKnown = reason && Object.hasOwn(outcomeByReason, reason);
  return {
    outcome: (isKnown && outcomeByReason[reason]) || outcomeByStatus,
    decisionId: decision.id,
    ...(reason && { reason }),
    ...(retryAt !== undefined && retryAfter(durationMs(decision.issued_at, retryAt), nowMs)),
  };
}

/** Creates the `NoAd` for a response without a decision. */
export function noAdFromResponse(
  response: Exclude<ServiceResult<unknown>, { kind: 'ok' }>,
  nowMs: number,
): NoAd {
  if (response.kind === 'unreachable')
    return { outcome: outcomeByCause[response.cause], reason: response.cause };
  if (response.kind === 'refused') {
    const { code, detail } = response.problem;
    return {
      outcome: code === 'placement_not_found' ? 'invalid_placement' : 'error',
      reason: code,
      ...(detail !== undefined && { detail }),
    };
  }
  const { status, retryAfterMs } = response;
  return {
    outcome: status === 408 || status === 504 ? 'timeout' : 'error',
    reason: status === 429 ? 'rate_limited' : 'unavailable',
    detail: `The response was HTTP ${status}.`,
    ...(retryAfterMs !== undefined && retryAfter(retryAfterMs, nowMs)),
  };
}
