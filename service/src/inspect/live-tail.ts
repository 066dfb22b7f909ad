import { EventEmitter } from 'node:events';
import type { MakeDecision } from '../decision/decision-service.ts';
import type { TakeIn } from '../event/intake.ts';
import type { Scope } from '../resource/scope.ts';

/** One thing that was recorded in the sandbox. */
export type LiveLine = { event: 'decision' | 'event'; data: object };

/**
 * Shows a developer what their game asks and reports, as this process records it. Nobody looks most
 * of the time, and then it costs nothing; in live it shows nothing.
 */
export interface LiveTail {
  watchDecisions(make: MakeDecision): MakeDecision;
  watchEvents(takeIn: TakeIn): TakeIn;
  /** Hears of the account's sandbox until the function that it hands back is called. */
  listen(accountId: string, onLine: (line: LiveLine) => void): () => void;
  /** How many listen to an account. */
  count(accountId: string): number;
}

export function createLiveTail(): LiveTail {
  const emitter = new EventEmitter();
  // A listener for each open page; the route bounds them.
  emitter.setMaxListeners(0);
  const isWatched = ({ accountId, environment }: Scope): boolean =>
    environment === 'sandbox' && emitter.listenerCount(accountId) > 0;
  const tell = ({ accountId }: Scope, line: LiveLine): void => void emitter.emit(accountId, line);
  return {
    watchDecisions: (make) => (scope, entry, request, device, bot) => {
      const made = make(scope, entry, request, device, bot);
      if (!isWatched(scope)) return made;
      return made.then((decision) => {
        const { id, status, reason, placement, issued_at, explain } = decision;
        // A child is named to nobody.
        const user_ref = request.child_directed === true ? undefined : request.user_ref;
        const data = { id, status, reason, placement, issued_at, user_ref, explain };
        tell(scope, { event: 'decision', data });
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
      emitter.on(accountId, onLine);
      return () => emitter.off(accountId, onLine);
    },
    count: (accountId) => emitter.listenerCount(accountId),
  };
}
