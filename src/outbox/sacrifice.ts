import { lengthOf } from './batch.ts';
import type { Size } from './counts.ts';
import {
  isEventRecord,
  type EventRecord,
  type EventStore,
  type StoredRecord,
} from './event-store.ts';

/** How much may wait; more than that is sacrificed. */
export type Bounds = Size;

export const exceeds = (size: Size, bounds: Bounds): boolean =>
  size.events > bounds.events || size.bytes > bounds.bytes;

/** What an event is worth when room is short: the lowest goes first, completions are money and go last. */
const worth: Record<string, number> = { complete: 3, impression: 2, start: 1, click: 1 };
/** Quartiles and all others, those of other releases too, go first. */
const worthOf = (json: string): number => worth[/"type":"(\w+)"/.exec(json)?.[1] ?? ''] ?? 0;

/** Frees a tenth more than needed, so that a full queue does not make this run for every event. */
const headroom = 0.9;

/** A record with what is left of it, and the events that go. */
interface Change {
  key: number;
  record: EventRecord;
  gone: string[];
}

/** Reads a whole store, in steps that do not block the page. */
async function readAll(store: EventStore): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (;;) {
    const some = await store.read(records.at(-1)?.key ?? -1, 250);
    if (some.length === 0) return records;
    records.push(...some);
  }
}

/** Counts what is stored, and chooses what to give up: the least worth first, among equals the oldest. */
function plan(stored: StoredRecord[], bounds: Bounds): { size: Size; changes: Change[] } {
  const records = stored.flatMap(({ key, value }) =>
    isEventRecord(value) ? [{ key, record: value }] : [],
  );
  const all = records.flatMap(({ record }) => record.events);
  const size = { events: all.length, bytes: lengthOf(all) };
  const gone = new Set<string>();
  if (exceeds(size, bounds)) {
    const target = { events: bounds.events * headroom, bytes: bounds.bytes * headroom };
    const left = { ...size };
    for (const json of all.sort((a, b) => worthOf(a) - worthOf(b))) {
      if (!exceeds(left, target)) break;
      gone.add(json);
      left.events -= 1;
      left.bytes -= json.length;
    }
  }
  // Mostly there is room, and to look at each of ten thousand events would take half a frame.
  const changes = (gone.size > 0 ? records : []).flatMap(({ key, record }) => {
    const dropped = record.events.filter((json) => gone.has(json));
    const events = record.events.filter((json) => !gone.has(json));
    return dropped.length > 0 ? [{ key, record: { ...record, events }, gone: dropped }] : [];
  });
  return { size, changes };
}

/** Counts what is really stored, and gives up what is worth least until `bounds` hold. */
export async function sacrifice(
  store: EventStore,
  bounds: Bounds,
  on: { counted(size: Size): void; gone(events: string[]): void },
): Promise<void> {
  const { size, changes } = plan(await readAll(store), bounds);
  on.counted(size);
  // Whole records first: a full disk lets one delete, but not always write.
  for (const whole of [true, false]) {
    const some = changes.filter(({ record }) => (record.events.length === 0) === whole);
    if (some.length === 0) continue;
    await store.rewrite(some);
    on.gone(some.flatMap(({ gone }) => gone));
  }
}
