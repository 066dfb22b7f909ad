import { setTimeout as sleep } from 'node:timers/promises';
import type { AdEvent, EventBatchResult, EventResult } from '@trueward/protocol/wire';
import type { Pseudonymize } from '../decision/decision-service.ts';
import { type RecordedEvent, makeEventKey } from '../decision/decision-state.ts';
import type { DecisionTokens, TokenClaims } from '../decision/token.ts';
import { isBot } from '../decision/user-agent.ts';
import type { Client } from '../demand/index.ts';
import { type Clock, requireInstant } from '../platform/time.ts';
import type { Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { maxHoldMs, UndecidedTimeError } from './early-events.ts';
import type { EventBatch, RecordResponse } from './event-batch.ts';

/** An event as submitted in a request, or the id of a malformed event. */
export type SubmittedEvent = AdEvent | { id: string; malformed: true };

interface Deps {
  tokens: DecisionTokens;
  pseudonym: Pseudonymize;
  clock: Clock;
  lane: Lane<EventBatch, RecordResponse>;
  /** Resolves after this many milliseconds. Only tests replace it. */
  wait?(ms: number): Promise<unknown>;
}

/** Records the events in one request. Resolves after the commit with one result per event. */
export type IngestEvents = (
  scope: Scope,
  sentAt: string,
  events: readonly SubmittedEvent[],
  client: Client,
) => Promise<EventBatchResult>;

export function createEventIngester(deps: Deps): IngestEvents {
  const { tokens, pseudonym, clock, lane, wait = sleep } = deps;
  return async (scope, sentAt, submittedEvents, client) => {
    const verify = memoize(tokens.verify);
    const sentAtMs = requireInstant(sentAt);
    const lead = () => clock.nowMs() - clock.monotonicMs();
    const leadAtArrivalMs = lead();
    let receivedAtMs = clock.nowMs();
    const results = new Map<number, EventResult>();
    const decisions = new Map<string, EventBatchResult['decisions'][number]>();
    const finalEvents = new Set<string>();
    // Events that arrive too early are recorded once they are possible; see `early-events.ts`.
    for (let round = 1; ; round += 1) {
      const [events, userRefs] = [new Map<number, RecordedEvent>(), new Map<string, string>()];
      submittedEvents.forEach((event, index) => {
        if (results.has(index)) return;
        const reject = (code: NonNullable<EventResult['code']>) =>
          results.set(index, { id: event.id, status: 'rejected', code });
        if ('malformed' in event) return reject('invalid_event');
        const arrival = { scope, sentAtMs, receivedAtMs, claims: verify(event.token) };
        const result = readEvent(event, arrival);
        if ('code' in result) return reject(result.code);
        if (result.claims.userRef !== undefined)
          userRefs.set(event.decision_id, result.claims.userRef);
        return events.set(index, result.event);
      });
      const validEvents = [...events.values()];
      const completedUserRefs = validEvents
        .filter(({ type }) => type === 'complete')
        .flatMap(({ decisionId }) => userRefs.get(decisionId) ?? []);
      const viewers = [...new Set(completedUserRefs)].map((userRef) => pseudonym(scope, userRef));
      const isFromBot = isBot(client.userAgent, scope.environment);
      const botEvents = new Set(isFromBot ? validEvents.map(makeEventKey) : []);
      const response =
        validEvents.length === 0
          ? { results: [], decisions: [] }
          : await lane.push({
              scope,
              events: validEvents,
              userRefs,
              viewers,
              botEvents,
              finalEvents,
              findClient: () => client,
            });
      for (const reward of response.decisions) decisions.set(reward.id, reward);
      const earlyEvents: [RecordedEvent, number][] = [];
      [...events].forEach(([index, event], position) => {
        const result = response.results[position];
        if (result && 'earlyByMs' in result) earlyEvents.push([event, result.earlyByMs]);
        else if (result) results.set(index, result);
      });
      if (earlyEvents.length === 0)
        return {
          results: submittedEvents.flatMap((_, index) => results.get(index) ?? []),
          decisions: [...decisions.values()],
        };
      const measureDoubt = async (): Promise<number> => {
        const doubtMs = (await clock.confirm?.()) ?? 0;
        // The clock may have jumped since the request arrived, because the machine has slept.
        return doubtMs + Math.max(0, lead() - leadAtArrivalMs);
      };
      const holdMs = await decideHold({ measureDoubt, earlyEvents, round, finalEvents });
      if (holdMs > 0) await wait(holdMs);
      receivedAtMs += holdMs;
    }
  };
}

/** After this many rounds, the remaining early events are judged. Several events of one request take several rounds. */
const maxRounds = 3;

/**
 * Returns how long to wait until the first early events are possible. Adds events that are much too early to
 * `finalEvents`: they are judged now, but only after the clock has been measured anew.
 *
 * @throws UndecidedTimeError when the events may be possible by another process's clock.
 */
async function decideHold({
  measureDoubt,
  earlyEvents,
  round,
  finalEvents,
}: {
  /** Returns by how much the service's clock may be wrong. */
  measureDoubt(): Promise<number>;
  earlyEvents: readonly [RecordedEvent, number][];
  round: number;
  finalEvents: Set<string>;
}): Promise<number> {
  const isTooEarly = (earlyByMs: number): boolean => earlyByMs > maxHoldMs || round > maxRounds;
  const tooEarly = earlyEvents.filter(([, earlyByMs]) => isTooEarly(earlyByMs));
  if (tooEarly.length > 0) {
    const longestMs = Math.max(...tooEarly.map(([, earlyByMs]) => earlyByMs));
    const shortestMs = Math.min(...tooEarly.map(([, earlyByMs]) => earlyByMs));
    // The measurement's own rounding isn't a doubt.
    if (shortestMs <= (await measureDoubt()) - 1) throw new UndecidedTimeError(longestMs);
    for (const [event] of tooEarly) finalEvents.add(makeEventKey(event));
  }
  const soon = earlyEvents.filter(([, earlyByMs]) => !isTooEarly(earlyByMs));
  return Math.max(0, ...soon.map(([, earlyByMs]) => earlyByMs));
}

/** Caches verification results, because most events in a request have the same token. */
function memoize(verify: DecisionTokens['verify']): (token: string) => TokenClaims | undefined {
  const cache = new Map<string, TokenClaims | undefined>();
  return (token) => {
    if (!cache.has(token)) cache.set(token, verify(token));
    return cache.get(token);
  };
}

interface Arrival {
  scope: Scope;
  sentAtMs: number;
  receivedAtMs: number;
  /** Undefined if the token's signature is invalid. */
  claims: TokenClaims | undefined;
}

type ReadResult =
  { event: RecordedEvent; claims: TokenClaims } | { code: NonNullable<EventResult['code']> };

/**
 * Checks an event's token and converts the event's time to the service's clock. The event time and the request time
 * both come from the device's clock, so clock skew does not affect their difference.
 */
export function readEvent(
  event: AdEvent,
  { scope, sentAtMs, receivedAtMs: arrivedAtMs, claims }: Arrival,
): ReadResult {
  if (!claims || claims.accountId !== scope.accountId) return { code: 'token_invalid' };
  if (claims.environment !== scope.environment) return { code: 'environment_mismatch' };
  if (claims.decisionId !== event.decision_id) return { code: 'decision_mismatch' };
  // This process's clock may lag behind the clock of the process that issued the decision.
  const receivedAtMs = Math.max(arrivedAtMs, claims.issuedAtMs);
  const offsetMs = receivedAtMs - sentAtMs;
  const reportedAtMs = requireInstant(event.occurred_at) + offsetMs;
  const occurredAtMs = Math.min(Math.max(reportedAtMs, claims.issuedAtMs), receivedAtMs);
  const recordedEvent: RecordedEvent = {
    id: event.id,
    decisionId: event.decision_id,
    type: event.type,
    occurredAtMs,
    receivedAtMs,
    offsetMs,
    clamped: occurredAtMs !== reportedAtMs,
  };
  if (event.watched_ms !== undefined) recordedEvent.watchedMs = event.watched_ms;
  if (event.visible !== undefined) recordedEvent.visible = event.visible;
  if (event.detail !== undefined) recordedEvent.detail = event.detail;
  return { claims, event: recordedEvent };
}
