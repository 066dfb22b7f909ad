import { isEventRecord, type SetAside, type StoredRecord } from './event-store.ts';

/** An event as it is stored and sent: serialized once, when it happened. */
export interface QueuedEvent {
  id: string;
  json: string;
}

/** What one request may hold. `bytes` is the length of the events' JSON, in UTF-16 units. */
export interface BatchLimits {
  events: number;
  bytes: number;
}

/** What every release of the service takes: 100 events and 64 KiB, with room for the envelope. */
export const smallBatch: BatchLimits = { events: 100, bytes: 60_000 };
/** What a service of this release takes: 500 events and 256 KiB. */
export const largeBatch: BatchLimits = { events: 500, bytes: 250_000 };

/** `keepalive` bodies of a page may have 64 KiB in flight together, other scripts included. */
export const keepaliveBytes = 15_000;

/** Records that go to the service in one request, and are removed together. */
export interface Batch {
  /** How many records it takes. */
  records: number;
  events: QueuedEvent[];
  bytes: number;
  /** Records that this release can't read. */
  unreadable: SetAside[];
}

/** Length of stored events, in UTF-16 units. */
export const lengthOf = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

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

/** Splits the events of one task into records, each small enough for a request of its own. */
export function groupEvents(events: QueuedEvent[]): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const { json } of events) {
    const group = groups.at(-1);
    bytes += json.length;
    // 64 to a record: 20 times fewer writes in a burst than one by one (docs/outbox.md).
    if (group && group.length < 64 && bytes <= smallBatch.bytes) group.push(json);
    else {
      groups.push([json]);
      bytes = json.length;
    }
  }
  return groups;
}
