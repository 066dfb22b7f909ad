import {
  type EventRecord,
  type EventStore,
  exceeds,
  isEventRecord,
  measureLength,
  readAll,
  type Size,
  type StoredRecord,
} from './event-store.ts';

/**
 * Priorities by event type. Events with the lowest priority are evicted first. Completions generate revenue, so they
 * are evicted last.
 */
const priorities: Record<string, number> = { complete: 3, impression: 2, start: 1, click: 1 };
/** Returns an event's priority. Quartiles and unknown types, such as those from other releases, are evicted first. */
const getPriority = (json: string): number =>
  priorities[/"type":"(\w+)"/.exec(json)?.[1] ?? ''] ?? 0;

/**
 * The queue's target size after an eviction, as a fraction of its bounds. The headroom keeps a full queue from evicting
 * on every event.
 */
const targetShare = 0.9;

/** A change to a record: what remains of the record, and the events to evict. */
interface Change {
  key: number;
  record: EventRecord;
  evicted: string[];
}

/** Chooses the events to evict: lowest priority first, then oldest first. */
function planEvictions(storedRecords: StoredRecord[], bounds: Size): Change[] {
  const records = storedRecords.flatMap(({ key, value }) =>
    isEventRecord(value) ? [{ key, record: value }] : [],
  );
  const events = records.flatMap(({ record }) => record.events);
  const remaining = { events: events.length, bytes: measureLength(events) };
  if (!exceeds(remaining, bounds)) return [];
  const target = { events: bounds.events * targetShare, bytes: bounds.bytes * targetShare };
  const evicted = new Set<string>();
  for (const json of events.sort((a, b) => getPriority(a) - getPriority(b))) {
    if (!exceeds(remaining, target)) break;
    evicted.add(json);
    remaining.events -= 1;
    remaining.bytes -= json.length;
  }
  return records.flatMap(({ key, record }) => {
    const removed = record.events.filter((json) => evicted.has(json));
    const events = record.events.filter((json) => !evicted.has(json));
    return removed.length > 0 ? [{ key, record: { ...record, events }, evicted: removed }] : [];
  });
}

/**
 * Evicts the events with the lowest priority until the store is within `bounds`. Calls `onEvicted` after each removal.
 */
export async function evict(
  store: EventStore,
  bounds: Size,
  onEvicted: (events: string[]) => void,
): Promise<void> {
  const changes = planEvictions(await readAll(store), bounds);
  // Deletes whole records first, because on a full disk, only deletes may succeed.
  for (const wholeRecords of [true, false]) {
    const batch = changes.filter(({ record }) => (record.events.length === 0) === wholeRecords);
    if (batch.length === 0) continue;
    await store.rewrite(batch);
    onEvicted(batch.flatMap(({ evicted }) => evicted));
  }
}
