import type { Decision, DecisionRequest } from '../../protocol/wire.ts';
import { bounded, type Clock } from '../platform/clock.ts';
import { type Answer, type Guard, hasShape, type ServiceClient } from './service-client.ts';

export interface RequestDecisionParts {
  client: Pick<ServiceClient, 'call'>;
  clock: Clock;
  /** Whether the browser believes that there is a network. */
  isOnline(): boolean;
  /** Resolves when anything at the service's address answers a harmless request. */
  reach(signal: AbortSignal): Promise<unknown>;
}

/** A filter list refuses at once; a network needs longer to fail, but for a refused connection. */
const atOnceMs = 1_000;
/** How long the harmless request may take, in milliseconds. */
const reachMs = 5_000;

/** Whether this is a decision, filled or not. */
export const isDecision: Guard<Decision> = (body): body is Decision =>
  hasShape(body, { id: '', status: '', placement: '', issued_at: '', expires_at: '' });

/** Asks for an ad, and finds out whether a request that fails at once was blocked in the browser. */
export async function requestDecision(
  { client, clock, isOnline, reach }: RequestDecisionParts,
  body: DecisionRequest,
  signal: AbortSignal,
): Promise<Answer<Decision>> {
  const startedAt = clock.monotonic();
  const answer = await client.call('/v1/decisions', isDecision, { body, signal });
  const failed = answer.kind === 'unreachable' && answer.cause === 'network';
  if (!failed || !isOnline() || clock.monotonic() - startedAt >= atOnceMs) return answer;
  const reached = await bounded(clock, reachMs, signal, async (inner) => {
    await reach(inner);
    return { reached: true };
  });
  return typeof reached === 'object' ? { kind: 'unreachable', cause: 'blocked' } : answer;
}
