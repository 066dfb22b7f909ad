import type { EventResult } from '@trueward/protocol/wire';
import type { Pseudonymize } from '../decision/decision-service.ts';
import type { RecordedEvent } from '../decision/decision-state.ts';
import type { Clock } from '../platform/time.ts';
import type { Database, Scope } from '../store/database.ts';
import type { Lane } from '../store/group-commit.ts';
import { readDecisions } from './read-decisions.ts';
import type { EventBatch, RecordResponse } from './event-batch.ts';

interface Deps {
  database: Database;
  clock: Pick<Clock, 'nowMs'>;
  pseudonym: Pseudonymize;
  lane: Lane<EventBatch, RecordResponse>;
}

/**
 * Records that the server of an ad network has confirmed a view. Resolves after the commit. However often the network
 * calls, a decision is confirmed once.
 */
export type ConfirmView = (
  scope: Scope,
  sourceId: string,
  decisionId: string,
) => Promise<EventResult>;

/** The id of the event. A decision has at most one, and devices choose ids of at least eight characters. */
const eventId = '@source';

export function createConfirmView({ database, clock, pseudonym, lane }: Deps): ConfirmView {
  return async (scope, sourceId, decisionId) => {
    const reject = (code: NonNullable<EventResult['code']>): EventResult => ({
      id: decisionId,
      status: 'rejected',
      code,
    });
    const [decision] = await readDecisions(database, scope, [decisionId], { lock: false });
    // A network may confirm only what it was asked to show.
    if (decision?.sourceId !== sourceId || decision.evidence !== 'source_attested')
      return reject('decision_mismatch');
    const receivedAtMs = Math.max(clock.nowMs(), decision.issuedAtMs);
    const event: RecordedEvent = {
      id: eventId,
      decisionId,
      type: 'source_callback',
      occurredAtMs: receivedAtMs,
      receivedAtMs,
      offsetMs: 0,
      clamped: false,
    };
    const { userRef } = decision;
    const { results } = await lane.push({
      scope,
      events: [event],
      userRefs: new Map(userRef === null ? [] : [[decisionId, userRef]]),
      viewers: userRef === null ? [] : [pseudonym(scope, userRef)],
      botEvents: new Set(),
      finalEvents: new Set(),
      findClient: () => undefined,
    });
    const [result] = results;
    return result && 'status' in result ? { ...result, id: decisionId } : reject('invalid_event');
  };
}
