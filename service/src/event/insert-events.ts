import type { Queries } from '../store/database.ts';
import { arraysOf, type Column, unnest } from '../store/unnest.ts';
import { keyOf, type RecordedEvent } from './recorded-event.ts';

const columns: readonly Column<RecordedEvent>[] = [
  { name: 'decision_id', type: 'text', read: (event) => event.decisionId },
  { name: 'id', type: 'text', read: (event) => event.id },
  { name: 'type', type: 'text', read: (event) => event.type },
  { name: 'occurred_at', type: 'timestamptz', read: (event) => event.occurredAtMs },
  { name: 'received_at', type: 'timestamptz', read: (event) => event.receivedAtMs },
  { name: 'offset_ms', type: 'bigint', read: (event) => event.offsetMs },
  { name: 'clamped', type: 'boolean', read: (event) => event.clamped },
  { name: 'watched_ms', type: 'integer', read: (event) => event.watchedMs },
  { name: 'visible_ratio', type: 'double precision', read: (event) => event.visible?.ratio },
  { name: 'visible_ms', type: 'integer', read: (event) => event.visible?.ms },
  { name: 'detail', type: 'text', read: (event) => event.detail },
];
const names = columns.map(({ name }) => name).join(', ');

const insert = `INSERT INTO ad_events (account_id, ${names}) SELECT $1, ${unnest(columns, 2)}`;

/**
 * Mostly all are new, and nothing comes back. Otherwise the keys do, as one text: a thousand rows cost
 * the driver more than the table.
 */
const insertIfNew = `WITH made AS (${insert}
      ON CONFLICT (account_id, decision_id, id) DO NOTHING RETURNING decision_id, id)
  SELECT string_agg(decision_id || '/' || id, ' ') AS keys FROM made
    HAVING count(*) < cardinality($2::text[])`;

const order = (a: string, b: string): number => (a < b ? -1 : 1);

/** Whether an insert failed because the row is there: another transaction was faster. */
export const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

/**
 * Stores events, and hands back whether one was new; it is asked once for each, in their order.
 *
 * `stored` is what is known of their decisions, which are locked. A process of the previous release counts events
 * without that lock: if it has stored one meanwhile, this fails with {@link isTaken}, and when `careful`, the event
 * is a duplicate.
 */
export async function insertEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
  stored: ReadonlyMap<string, readonly RecordedEvent[]>,
  { careful = false } = {},
): Promise<(event: RecordedEvent) => boolean> {
  const fresh = freshOf(events, stored);
  const left = new Set(fresh.map(keyOf));
  if (fresh.length > 0) {
    const params = [accountId, ...arraysOf(columns, fresh)];
    const [made] = await queries.execute<{ keys: string | null }>(
      careful ? insertIfNew : insert,
      params,
    );
    if (made) {
      const keys = new Set(made.keys?.split(' '));
      for (const key of left) if (!keys.has(key)) left.delete(key);
    }
  }
  // Of the same id twice in one request, the first is the new one.
  return (event) => left.delete(keyOf(event));
}

/** Those that are not stored, each once; in one order everywhere, so that no two transactions wait for each other. */
function freshOf(
  events: readonly RecordedEvent[],
  stored: ReadonlyMap<string, readonly RecordedEvent[]>,
): RecordedEvent[] {
  const fresh = new Map(events.toReversed().map((event) => [keyOf(event), event]));
  for (const event of [...stored.values()].flat()) fresh.delete(keyOf(event));
  return [...fresh.values()].toSorted((a, b) =>
    a.decisionId === b.decisionId ? order(a.id, b.id) : order(a.decisionId, b.decisionId),
  );
}
