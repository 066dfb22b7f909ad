import type { Queries } from '../store/database.ts';
import type { Evidence } from './event-store.ts';
import { keyOf, type RecordedEvent } from '../decision/decision-state.ts';
import { formatTimeline } from './timeline.ts';

/**
 * Events of one decision. Players report about ten; beyond this, each one more would have the database rewrite a
 * row of 70 KB.
 */
export const mostEvents = 200;

/** What becomes of an event: it is new, it is stored already, or its decision has too many. */
type Outcome = 'new' | 'stored' | 'too_many';

const append = `INSERT INTO timelines (account_id, decision_id, events)
    SELECT $1, unnest($2::text[]), unnest($3::text[])
  ON CONFLICT (account_id, decision_id) DO UPDATE SET events = excluded.events`;

/**
 * Adds events to the timelines of their decisions, in one statement. The decisions have to be locked since before
 * `evidence` was read. Of the same id twice, the first is the new one. `written` settles with the statement.
 */
export function appendEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
  { known, timelines }: Evidence,
): { outcomes: ReadonlyMap<RecordedEvent, Outcome>; written: Promise<unknown> } {
  const outcomes = new Map<RecordedEvent, Outcome>();
  const added = new Map<string, RecordedEvent[]>();
  const keys = new Set([...known.values()].flat().map(keyOf));
  for (const event of events) {
    const { decisionId } = event;
    const more = added.get(decisionId) ?? [];
    const isFull = (known.get(decisionId)?.length ?? 0) + more.length >= mostEvents;
    const isStored = keys.has(keyOf(event));
    if (isFull || isStored) {
      outcomes.set(event, isStored ? 'stored' : 'too_many');
      continue;
    }
    outcomes.set(event, 'new');
    keys.add(keyOf(event));
    more.push(event);
    added.set(decisionId, more);
  }
  if (added.size === 0) return { outcomes, written: Promise.resolve() };
  const ids = [...added.keys()].toSorted();
  const texts = ids.map((id) =>
    formatTimeline([...(timelines.get(id) ?? []), ...(added.get(id) ?? [])]),
  );
  return { outcomes, written: queries.execute(append, [accountId, ids, texts]) };
}
