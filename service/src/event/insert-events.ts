import {
  bigintArray,
  booleanArray,
  doubleArray,
  integerArray,
  textArray,
  timeArray,
} from '../store/binary-arrays.ts';
import type { Queries } from '../store/database.ts';
import { unnest } from '../store/unnest.ts';
import { keyOf, type RecordedEvent } from './recorded-event.ts';

/** A column, and how the values of all rows are sent. */
interface Column {
  name: string;
  type: 'text' | 'timestamptz' | 'bigint' | 'boolean' | 'integer' | 'double precision';
  encode(events: readonly RecordedEvent[]): Buffer;
}

const column = <T>(
  name: string,
  type: Column['type'],
  encode: (values: readonly T[]) => Buffer,
  read: (event: RecordedEvent) => T,
): Column => ({ name, type, encode: (events) => encode(events.map(read)) });

const columns: readonly Column[] = [
  column('decision_id', 'text', textArray, ({ decisionId }) => decisionId),
  column('id', 'text', textArray, ({ id }) => id),
  column('type', 'text', textArray, ({ type }) => type),
  column('occurred_at', 'timestamptz', timeArray, ({ occurredAtMs }) => occurredAtMs),
  column('received_at', 'timestamptz', timeArray, ({ receivedAtMs }) => receivedAtMs),
  column('offset_ms', 'bigint', bigintArray, ({ offsetMs }) => offsetMs),
  column('clamped', 'boolean', booleanArray, ({ clamped }) => clamped),
  column('watched_ms', 'integer', integerArray, ({ watchedMs }) => watchedMs),
  column('visible_ratio', 'double precision', doubleArray, ({ visible }) => visible?.ratio),
  column('visible_ms', 'integer', integerArray, ({ visible }) => visible?.ms),
  column('detail', 'text', textArray, ({ detail }) => detail),
];
const names = columns.map(({ name }) => name).join(', ');

/**
 * Mostly all are new, and nothing comes back. Otherwise the keys do, as one text: a thousand rows cost
 * the driver more than the table.
 */
const insert = `WITH made AS (
    INSERT INTO ad_events (account_id, ${names}) SELECT $1, ${unnest(columns, 2)}
      ON CONFLICT (account_id, decision_id, id) DO NOTHING RETURNING decision_id, id)
  SELECT string_agg(decision_id || '/' || id, ' ') AS keys FROM made
    HAVING count(*) < cardinality($2::text[])`;

const order = (a: string, b: string): number => (a < b ? -1 : 1);

/** Stores events, and hands back what tells which were new; it is asked once for each, in their order. */
export async function insertEvents(
  queries: Queries,
  accountId: string,
  events: readonly RecordedEvent[],
): Promise<(event: RecordedEvent) => boolean> {
  if (events.length === 0) return () => false;
  // In one order everywhere, so that two that tell of the same never wait for each other.
  const rows = events.toSorted((a, b) =>
    a.decisionId === b.decisionId ? order(a.id, b.id) : order(a.decisionId, b.decisionId),
  );
  const [made] = await queries.execute<{ keys: string | null }>(insert, [
    accountId,
    ...columns.map(({ encode }) => encode(rows)),
  ]);
  if (!made) return () => true;
  // Of the same id twice in one request, the first is the new one.
  const left = new Set(made.keys?.split(' '));
  return (event) => left.delete(keyOf(event));
}
