import type { AdEvent, EventBatchResult, EventResult } from '@trueward/protocol/wire';
import type { Pseudonymize } from '../decision/decision-service.ts';
import { type RecordedEvent, makeEventKey } from '../decision/decision-state.ts';
import type { DecisionTokens, TokenClaims } from '../decision/token.ts';
import type { Client } from '../demand/index.ts';
import type { Environment } from '../access/principal.ts';
import { type Clock, requireInstant } from '../platform/time.ts';
import type { Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import type { EventBatch } from './record-events.ts';

/** Self-identified crawlers and link-preview bots. */
const crawlerPattern =
  /\bbot\b|[a-z]bot[/;]|googlebot|bingbot|crawl|spider|slurp|facebookexternalhit|embedly|preview|monitoring|lighthouse|pingdom/i;
/** Headless browsers and HTTP libraries. */
const automationPattern =
  /headless|phantomjs|electron-prerender|selenium|puppeteer|playwright|python-requests|scrapy|curl\/|wget\/|go-http-client|okhttp\/|libwww/i;

/**
 * Whether the `User-Agent` identifies a bot. The sandbox accepts automated browsers, because developers test with them.
 * Does not detect bots that spoof their `User-Agent`.
 */
export function isBot(userAgent: string | undefined, environment: Environment): boolean {
  const name = userAgent?.trim() ?? '';
  if (name === '') return environment === 'live';
  return crawlerPattern.test(name) || (environment === 'live' && automationPattern.test(name));
}

/** An event as submitted in a request, or the id of a malformed event. */
export type SubmittedEvent = AdEvent | { id: string; malformed: true };

interface Deps {
  tokens: DecisionTokens;
  pseudonym: Pseudonymize;
  clock: Clock;
  lane: Lane<EventBatch, EventBatchResult>;
}

/** Records the events in one request. Resolves after the commit with one result per event. */
export type IngestEvents = (
  scope: Scope,
  sentAt: string,
  events: readonly SubmittedEvent[],
  client: Client,
) => Promise<EventBatchResult>;

export function createEventIngester({ tokens, pseudonym, clock, lane }: Deps): IngestEvents {
  return async (scope, sentAt, submittedEvents, client) => {
    const verify = memoize(tokens.verify);
    const arrival = { scope, sentAtMs: requireInstant(sentAt), receivedAtMs: clock.nowMs() };
    const validEvents: RecordedEvent[] = [];
    const userRefs = new Map<string, string>();
    const rejections = submittedEvents.map((event): EventResult | undefined => {
      if ('malformed' in event) return { id: event.id, status: 'rejected', code: 'invalid_event' };
      const result = readEvent(event, { claims: verify(event.token), ...arrival });
      if ('code' in result) return { id: event.id, status: 'rejected', code: result.code };
      if (result.claims.userRef !== undefined)
        userRefs.set(event.decision_id, result.claims.userRef);
      validEvents.push(result.event);
      return undefined;
    });
    const completedUserRefs = validEvents
      .filter(({ type }) => type === 'complete')
      .flatMap(({ decisionId }) => userRefs.get(decisionId) ?? []);
    const viewers = [...new Set(completedUserRefs)].map((userRef) => pseudonym(scope, userRef));
    const botEvents = new Set(
      isBot(client.userAgent, scope.environment) ? validEvents.map(makeEventKey) : [],
    );
    const { results, decisions } =
      validEvents.length === 0
        ? { results: [], decisions: [] }
        : await lane.push({
            scope,
            events: validEvents,
            userRefs,
            viewers,
            botEvents,
            findClient: () => client,
          });
    const remainingResults = results.values();
    return {
      results: rejections.map(
        (rejection) => rejection ?? (remainingResults.next().value as EventResult),
      ),
      decisions,
    };
  };
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
