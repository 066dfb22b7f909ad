import { type Count, createCount } from '../report/rollup.ts';
import type { Scope } from '../store/database.ts';
import type { DecisionState, RecordedEvent } from '../decision/decision-state.ts';

/** The report metric for each event type. */
const metrics: Record<RecordedEvent['type'], string> = {
  impression: 'impressions_reported',
  viewable: 'viewable',
  start: 'starts',
  first_quartile: 'first_quartiles',
  midpoint: 'midpoints',
  third_quartile: 'third_quartiles',
  complete: 'completes',
  click: 'clicks',
  skip: 'skips',
  close: 'closes',
  error: 'errors',
};

/** Returns report counts for accepted events. */
export function countEvents(
  scope: Scope,
  accepted: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return accepted.flatMap(({ decisionId, type, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    return decision ? [createCount(scope, decision, receivedAtMs, metrics[type])] : [];
  });
}

/** Returns report counts for invalid traffic. */
export function countInvalid(
  scope: Scope,
  events: RecordedEvent[],
  decisions: ReadonlyMap<string, DecisionState>,
): Count[] {
  return events.flatMap(({ decisionId, receivedAtMs }) => {
    const decision = decisions.get(decisionId);
    if (!decision) return [];
    const reason = decision.invalidReason ?? 'bot';
    return [createCount(scope, decision, receivedAtMs, 'invalid_traffic', reason)];
  });
}
