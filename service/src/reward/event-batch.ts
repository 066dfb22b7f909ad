import type { EventBatchResult, EventResult } from '@trueward/protocol/wire';
import type { RecordedEvent } from '../decision/decision-state.ts';
import type { Client } from '../demand/index.ts';
import type { Scope } from '../store/database.ts';
import type { EarlyEvent } from './early-events.ts';

/** The events with valid tokens from one request. */
export interface EventBatch {
  scope: Scope;
  events: RecordedEvent[];
  /** User references by decision, from the tokens. */
  userRefs: ReadonlyMap<string, string>;
  /** Pseudonyms of players who completed an ad and may earn a reward. */
  viewers: string[];
  /** Keys of events sent by bots. */
  botEvents: ReadonlySet<string>;
  /** Keys of events that are judged even if they are too early. */
  finalEvents: ReadonlySet<string>;
  /** Returns the client that sent a decision's events. */
  findClient(decisionId: string): Client | undefined;
}

/** The results of one request. Events that are too early are not recorded. */
export interface RecordResponse {
  results: (EventResult | EarlyEvent)[];
  decisions: EventBatchResult['decisions'];
}

/** Merges requests for one account and environment. */
export const mergeBatches = (group: [EventBatch, ...EventBatch[]]): EventBatch => ({
  scope: group[0].scope,
  events: group.flatMap(({ events }) => events),
  userRefs: new Map(group.flatMap(({ userRefs }) => [...userRefs])),
  viewers: [...new Set(group.flatMap(({ viewers }) => viewers))],
  botEvents: new Set(group.flatMap(({ botEvents }) => [...botEvents])),
  finalEvents: new Set(group.flatMap(({ finalEvents }) => [...finalEvents])),
  findClient: (id) =>
    group.find(({ events }) => events.some(({ decisionId }) => decisionId === id))?.findClient(id),
});

/** Splits the response to merged requests into one response per request, in the requests' order. */
export function splitResponse(
  { results, decisions }: RecordResponse,
  batches: readonly EventBatch[],
): RecordResponse[] {
  const rewards = new Map(decisions.map((reward) => [reward.id, reward]));
  let position = 0;
  return batches.map(({ events }) => {
    const ids = new Set(events.map(({ decisionId }) => decisionId));
    return {
      results: results.slice(position, (position += events.length)),
      decisions: [...ids].flatMap((id) => rewards.get(id) ?? []),
    };
  });
}
