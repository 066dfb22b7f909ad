import { lengthOf } from './batch.ts';
import { isEventRecord, type EventRecord, type StoredRecord } from './event-store.ts';

/** How much may wait; more than that is sacrificed. */
export interface Bounds {
  events: number;
  /** Length of the stored JSON, in UTF-16 units. */
  bytes: number;
}

/** What an event is worth when room is short: the lowest goes first, completions are money and go last. */
const worth: Record<string, number> = { complete: 3, impression: 2, start: 1, click: 1 };
/** Quartiles and all others, those of other releases too, go first. */
const worthOf = (json: string): number => worth[/"type":"(\w+)"/.exec(json)?.[1] ?? ''] ?? 0;

/** Frees a tenth more than needed, so that a full queue does not make this run for every event. */
const headroom = 0.9;

export interface Sacrifice {
  /** What there is before. */
  events: number;
  bytes: number;
  /** The events that go. */
  dropped: string[];
  changes: { key: number; record: EventRecord }[];
}

/** Counts what is stored, and chooses what to give up: the least worth first, among equals the oldest. */
export function planSacrifice(stored: StoredRecord[], bounds: Bounds): Sacrifice {
  const records = stored.flatMap(({ key, value }) =>
    isEventRecord(value) ? [{ key, record: value }] : [],
  );
  const all = records.flatMap(({ record }) => record.events);
  const bytes = lengthOf(all);
  const gone = new Set<string>();
  if (all.length > bounds.events || bytes > bounds.bytes) {
    let left = bytes;
    for (const json of [...all].sort((a, b) => worthOf(a) - worthOf(b))) {
      if (all.length - gone.size <= bounds.events * headroom && left <= bounds.bytes * headroom)
        break;
      gone.add(json);
      left -= json.length;
    }
  }
  const changes = records.flatMap(({ key, record }) => {
    const events = record.events.filter((json) => !gone.has(json));
    return events.length < record.events.length ? [{ key, record: { ...record, events } }] : [];
  });
  return { events: all.length, bytes, dropped: [...gone], changes };
}
