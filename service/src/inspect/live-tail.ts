import { EventEmitter } from 'node:events';
import type { MakeDecision } from '../decision/decision-service.ts';
import type { TakeIn } from '../event/intake.ts';
import type { Scope } from '../resource/scope.ts';
import type { LiveLine } from './tail-store.ts';
import type { TailRelay, Watch } from './tail-relay.ts';

/**
 * Shows a developer what their game asks and reports, as it is recorded. Nobody looks most of the
 * time, and then it costs nothing; in live it shows nothing.
 */
export interface LiveTail {
  watchDecisions(make: MakeDecision): MakeDecision;
  watchEvents(takeIn: TakeIn): TakeIn;
  /** Hears of the account's sandbox until it is stopped. */
  listen(accountId: string, onLine: (line: LiveLine) => void): Watch;
  /** How many listen to an account. */
  count(accountId: string): number;
}

/** @param relay Absent where there is one process only. */
export function createLiveTail(relay?: TailRelay): LiveTail {
  const emitter = new EventEmitter();
  // A listener for each open page; the route bounds them.
  emitter.setMaxListeners(0);
  const elsewhere = new Map<string, Watch>();
  const isWatched = ({ accountId, environment }: Scope): boolean =>
    environment === 'sandbox' &&
    (emitter.listenerCount(accountId) > 0 || relay?.isWanted(accountId) === true);
  const tell = ({ accountId }: Scope, line: LiveLine): void => {
    emitter.emit(accountId, line);
    relay?.tell(accountId, line);
  };
  return {
    watchDecisions: (make) => (scope, entry, request, client) => {
      const made = make(scope, entry, request, client);
      if (!isWatched(scope)) return made;
      return made.then((decision) => {
        const { id, status, reason, placement, issued_at } = decision;
        tell(scope, { event: 'decision', data: { id, status, reason, placement, issued_at } });
        return decision;
      });
    },
    watchEvents: (takeIn) => (scope, sentAt, submitted, userAgent) => {
      const taken = takeIn(scope, sentAt, submitted, userAgent);
      if (!isWatched(scope)) return taken;
      return taken.then((answer) => {
        answer.results.forEach((result, index) => {
          const event = submitted[index];
          const told =
            event === undefined || 'malformed' in event
              ? {}
              : {
                  type: event.type,
                  decision_id: event.decision_id,
                  occurred_at: event.occurred_at,
                };
          tell(scope, { event: 'event', data: { ...told, ...result } });
        });
        return answer;
      });
    },
    listen(accountId, onLine) {
      const watch =
        elsewhere.get(accountId) ??
        relay?.watch(accountId, (line) => void emitter.emit(accountId, line));
      if (watch) elsewhere.set(accountId, watch);
      emitter.on(accountId, onLine);
      return {
        ready: watch?.ready ?? Promise.resolve(),
        stop() {
          emitter.off(accountId, onLine);
          if (emitter.listenerCount(accountId) > 0) return;
          elsewhere.delete(accountId);
          watch?.stop();
        },
      };
    },
    count: (accountId) => emitter.listenerCount(accountId),
  };
}
