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
  const waitMs = retryAt === undefined ? Number.NaN : durationMs(decision.issued_at, retryAt);
  return {
    outcome: (reason && outcomeByReason[reason]) ?? outcomeByStatus,
    decisionId: decision.id,
    ...(reason && { reason }),
    ...(Number.isNaN(waitMs) ? {} : { retryAt: new native.Date(nowMs + waitMs) }),
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
    ...(retryAfterMs === undefined ? {} : { retryAt: new native.Date(nowMs + retryAfterMs) }),
  };
}
