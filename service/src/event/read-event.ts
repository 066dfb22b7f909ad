import type { AdEvent, EventResult } from '@trueward/protocol/wire';
import type { TokenClaims } from '../decision/token.ts';
import { instantOf } from '../platform/instant.ts';
import type { Scope } from '../store/database.ts';
import type { RecordedEvent } from '../decision/decision-state.ts';

interface Arrival {
  scope: Scope;
  sentAtMs: number;
  receivedAtMs: number;
  /** Undefined when the token's signature is not ours. */
  claims: TokenClaims | undefined;
}

type Read =
  { event: RecordedEvent; claims: TokenClaims } | { code: NonNullable<EventResult['code']> };

/**
 * Checks the token of an event and puts its time on the service's clock. How long an event waited
 * on the device is the difference of two readings of one clock, so its skew falls out.
 */
export function readEvent(
  event: AdEvent,
  { scope, sentAtMs, receivedAtMs: arrivedAtMs, claims }: Arrival,
): Read {
  if (!claims || claims.accountId !== scope.accountId) return { code: 'token_invalid' };
  if (claims.environment !== scope.environment) return { code: 'environment_mismatch' };
  if (claims.decisionId !== event.decision_id) return { code: 'decision_mismatch' };
  // The clock of this process may be behind the one that issued the decision.
  const receivedAtMs = Math.max(arrivedAtMs, claims.issuedAtMs);
  const offsetMs = receivedAtMs - sentAtMs;
  const stated = instantOf(event.occurred_at) + offsetMs;
  const occurredAtMs = Math.min(Math.max(stated, claims.issuedAtMs), receivedAtMs);
  const recorded: RecordedEvent = {
    id: event.id,
    decisionId: event.decision_id,
    type: event.type,
    occurredAtMs,
    receivedAtMs,
    offsetMs,
    clamped: occurredAtMs !== stated,
  };
  if (event.watched_ms !== undefined) recorded.watchedMs = event.watched_ms;
  if (event.visible !== undefined) recorded.visible = event.visible;
  if (event.detail !== undefined) recorded.detail = event.detail;
  return { claims, event: recorded };
}
