import type { AdEvent } from '../../protocol/wire.ts';
import { isEventRecord, type SetAside, type StoredRecord } from './event-store.ts';

/** The service takes 100 events and 64 KiB a request; the rest is room for the envelope. */
export const wireLimits = { events: 100, bytes: 60_000 };

/** Records that go to the service in one request, and are removed together. */
export interface Batch {
  first: number;
  last: number;
  /** Wall time of the oldest record, in milliseconds. */
  at: number;
  events: AdEvent[];
  bytes: number;
  /** Records that this release can't read. */
  unreadable: SetAside[];
}

const readEvents = (value: unknown): AdEvent[] | undefined => {
  if (!isEventRecord(value)) return undefined;
  try {
    return value.events.map((json) => JSON.parse(json) as AdEvent);
  } catch {
    // A record that is damaged is set aside like one of an unknown release.
    return undefined;
  }
};

const sizeOf = (value: unknown): { events: number; bytes: number } =>
  isEventRecord(value)
    ? {
        events: value.events.length,
        bytes: value.events.reduce((sum, json) => sum + json.length, 0),
      }
    : { events: 0, bytes: 0 };

/**
 * Takes the oldest records that fit into one request, and at least one, since a record is never
 * larger than a request. `maxEvents` is the limit of events.
 */
export function nextBatch(records: StoredRecord[], maxEvents: number): Batch | undefined {
  let batch: Batch | undefined;
  for (const { key, value } of records) {
    const size = sizeOf(value);
    const events = readEvents(value);
    batch ??= { first: key, last: key, at: Infinity, events: [], bytes: 0, unreadable: [] };
    const full =
      batch.events.length + size.events > maxEvents || batch.bytes + size.bytes > wireLimits.bytes;
    if (full && batch.events.length > 0) break;
    batch.last = key;
    if (events === undefined) batch.unreadable.push({ reason: 'unreadable', value });
    else {
      batch.events.push(...events);
      batch.bytes += size.bytes;
      if (isEventRecord(value)) batch.at = Math.min(batch.at, value.at);
    }
  }
  return batch;
}

/** Splits the events of one task into records, each small enough for a request of its own. */
export function groupEvents(events: string[]): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const json of events) {
    const group = groups.at(-1);
    bytes += json.length;
    // 64 to a record: 20 times fewer writes in a burst than one by one (docs of the benchmark).
    if (group === undefined || group.length === 64 || bytes > wireLimits.bytes) {
      groups.push([json]);
      bytes = json.length;
    } else group.push(json);
  }
  return groups;
}
