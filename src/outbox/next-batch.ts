import { lengthOf, type BatchLimits, type QueuedEvent } from './batch.ts';
import { isEventRecord, type SetAside, type StoredRecord } from './event-store.ts';

/** Limits of a service of this release: 500 events and 256 KiB. */
export const largeBatch: BatchLimits = { events: 500, bytes: 250_000 };

/** Records that go to the service in one request, and are removed together. */
export interface Batch {
  /** How many records it takes. */
  records: number;
  events: QueuedEvent[];
  bytes: number;
  /** Records that this release can't read. */
  unreadable: SetAside[];
}

const parse = (value: unknown): QueuedEvent[] | undefined => {
  if (!isEventRecord(value)) return undefined;
  try {
    const events = value.events.map((json) => ({ id: (JSON.parse(json) as QueuedEvent).id, json }));
    if (events.every(({ id }) => id)) return events;
  } catch {
    // A damaged record is set aside, like one of an unknown release.
  }
  return undefined;
};

/**
 * Takes the oldest records that fit into one request, and at least one, since a record is never
 * larger than a request.
 */
export function nextBatch(records: StoredRecord[], limits: BatchLimits): Batch {
  const batch: Batch = { records: 0, events: [], bytes: 0, unreadable: [] };
  for (const { value } of records) {
    const events = parse(value);
    if (events) {
      const bytes = lengthOf(events.map(({ json }) => json));
      const isFull =
        batch.events.length + events.length > limits.events || batch.bytes + bytes > limits.bytes;
      if (batch.events.length > 0 && isFull) break;
      batch.events.push(...events);
      batch.bytes += bytes;
    } else batch.unreadable.push({ reason: 'unreadable', value });
    batch.records += 1;
  }
  return batch;
}
