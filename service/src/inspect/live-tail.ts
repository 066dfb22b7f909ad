import { EventEmitter } from 'node:events';
import type { MakeDecision } from '../decision/decision-service.ts';
import type { IngestEvents } from '../reward/ingest-events.ts';
import type { Scope } from '../store/database.ts';
import type { LiveLine, TailRelay, Watch } from './tail-relay.ts';

/**
 * Streams the sandbox's ad requests and events as they are recorded, for developers who are testing their game. Idle
 * while there are no subscribers.
 */
export interface LiveTail {
  watchDecisions(makeDecision: MakeDecision): MakeDecision;
  watchEvents(ingestEvents: IngestEvents): IngestEvents;
  /** Subscribes to the account's sandbox until `stop` is called. */
  listen(accountId: string, onLine: (line: LiveLine) => void): Watch;
  /** Returns the number of subscribers to an account. */
  count(accountId: string): number;
}

/** @param relay undefined if this is the only process */
export function createLiveTail(relay?: TailRelay): LiveTail {
  const emitter = new EventEmitter();
  // Each open page adds a listener. The route limits the number of pages.
  emitter.setMaxListeners(0);
  const remoteWatches = new Map<string, Watch>();
  const isWatched = ({ accountId, environment }: Scope): boolean =>
    environment === 'sandbox' &&
    (emitter.listenerCount(accountId) > 0 || relay?.isWanted(accountId) === true);
  const broadcast = ({ accountId }: Scope, line: LiveLine): void => {
    emitter.emit(accountId, line);
    relay?.broadcast(accountId, line);
  };
  return {
    watchDecisions: (makeDecision) => (scope, entry, request, client) => {
      const decision = makeDecision(scope, entry, request, client);
      if (!isWatched(scope)) return decision;
      return decision.then((decision) => {
        const { id, status, reason, placement, issued_at } = decision;
        broadcast(scope, { event: 'decision', data: { id, status, reason, placement, issued_at } });
        return decision;
      });
    },
    watchEvents: (ingestEvents) => (scope, sentAt, submitted, client) => {
      const batchResult = ingestEvents(scope, sentAt, submitted, client);
      if (!isWatched(scope)) return batchResult;
      return batchResult.then((result) => {
        result.results.forEach((result, index) => {
          const event = submitted[index];
          const details =
            event === undefined || 'malformed' in event
              ? {}
              : {
                  type: event.type,
                  decision_id: event.decision_id,
                  occurred_at: event.occurred_at,
                };
          broadcast(scope, { event: 'event', data: { ...details, ...result } });
        });
        return result;
      });
    },
    listen(accountId, onLine) {
      const watch =
        remoteWatches.get(accountId) ??
        relay?.watch(accountId, (line) => void emitter.emit(accountId, line));
      if (watch) remoteWatches.set(accountId, watch);
      emitter.on(accountId, onLine);
      return {
        ready: watch?.ready ?? Promise.resolve(),
        stop() {
          emitter.off(accountId, onLine);
          if (emitter.listenerCount(accountId) > 0) return;
          remoteWatches.delete(accountId);
          watch?.stop();
        },
      };
    },
    count: (accountId) => emitter.listenerCount(accountId),
  };
}
