import { lengthOf } from './batch.ts';
import type { Size } from './counts.ts';
import { isEventRecord, type EventStore, type StoredRecord } from './event-store.ts';

export const exceeds = (size: Size, bounds: Size): boolean =>
  size.events > bounds.events || size.bytes > bounds.bytes;

/** Reads a whole store, in steps that do not block the page. */
export async function readInSteps(
  store: EventStore,
  onRecords: (records: StoredRecord[]) => void,
): Promise<void> {
  for (let last = -1; ;) {
    const records = await store.read(last, 250);
    const newest = records.at(-1);
    if (!newest) return;
    onRecords(records);
    last = newest.key;
  }
}

/** Counts what a store really holds. */
export async function recount(store: EventStore): Promise<Size> {
  const size = { events: 0, bytes: 0 };
  await readInSteps(store, (records) => {
    for (const { value } of records) {
      if (!isEventRecord(value)) continue;
      size.events += value.events.length;
      size.bytes += lengthOf(value.events);
    }
  });
  return size;
}
