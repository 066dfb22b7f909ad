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
 * Stores events, and hands back what tells which were new; it is asked once for each, in their order.
 *
 * Of some decisions it is known what is `stored`. Their events need no look at each row, which costs
 * more than to store it; when another transaction has stored one meanwhile, this fails with what
 * {@link isTaken} tells.
 */
export async function insertEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
  stored: ReadonlyMap<string, readonly RecordedEvent[]> = new Map(),
): Promise<(event: RecordedEvent) => boolean> {
  // In one order everywhere, so that two that tell of the same never wait for each other.
  const rows = events.toSorted((a, b) =>
    a.decisionId === b.decisionId ? order(a.id, b.id) : order(a.decisionId, b.decisionId),
  );
  const paramsOf = (some: readonly RecordedEvent[]): unknown[] => [
    accountId,
    ...arraysOf(columns, some),
  ];
  const fresh = freshOf(rows, stored);
  if (fresh.length > 0) await queries.execute(insert, paramsOf(fresh));
  const others = rows.filter(({ decisionId }) => !stored.has(decisionId));
  const [made] =
    others.length === 0
      ? []
      : await queries.execute<{ keys: string | null }>(insertIfNew, paramsOf(others));
  if (!made && fresh.length + others.length === rows.length) return () => true;
  // Of the same id twice in one request, the first is the new one.
  const left = new Set(fresh.map(keyOf));
  for (const key of made ? (made.keys?.split(' ') ?? []) : others.map(keyOf)) left.add(key);
  return (event) => left.delete(keyOf(event));
}

/** Those, of sorted rows, of whose decisions everything is known, and that are not among it. */
function freshOf(
  rows: readonly RecordedEvent[],
  stored: ReadonlyMap<string, readonly RecordedEvent[]>,
): RecordedEvent[] {
  const keys = new Set([...stored.values()].flat().map(keyOf));
  return rows.filter((row, index) => {
    const last = rows[index - 1];
    const repeated = last?.id === row.id && last.decisionId === row.decisionId;
    return stored.has(row.decisionId) && !repeated && !keys.has(keyOf(row));
  });
}
