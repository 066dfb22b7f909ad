import type { AdEvent } from '../../protocol/wire.ts';
import { isEventRecord, type SetAside, type StoredRecord } from './event-store.ts';

/** The service takes 100 events and 64 KiB a request; the rest is room for the envelope. */
export const wireLimits = { events: 100, bytes: 60_000 };

/** Records that go to the service in one request, and are removed together. */
export interface Batch {
  /** How many records it takes. */
  records: number;
  /** Wall time of the newest record, in milliseconds: what is young is not given up with what is old. */
  at: number;
  events: AdEvent[];
  bytes: number;
  /** Records that this release can't read. */
  unreadable: SetAside[];
}

/** Length of stored events, in UTF-16 units. */
export const lengthOf = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

const parse = (value: unknown): { at: number; events: AdEvent[]; bytes: number } | undefined => {
  if (!isEventRecord(value)) return undefined;
  const { at, events } = value;
  try {
    const parsed = events.map((json) => JSON.parse(json) as AdEvent);
    if (parsed.every(({ id }) => id)) return { at, events: parsed, bytes: lengthOf(events) };
  } catch {
    // A record that is damaged is set aside like one of an unknown release.
  }
  return undefined;
};

/**
 * Takes the oldest records that fit into one request, and at least one, since a record is never
 * larger than a request.
 */
export function nextBatch(records: StoredRecord[], maxEvents: number): Batch {
  const batch: Batch = { records: 0, at: 0, events: [], bytes: 0, unreadable: [] };
  for (const { value } of records) {
    const record = parse(value);
    if (record) {
      const { length } = batch.events;
      const full =
        length + record.events.length > maxEvents || batch.bytes + record.bytes > wireLimits.bytes;
      if (length > 0 && full) break;
      batch.at = Math.max(batch.at, record.at);
      batch.events.push(...record.events);
      batch.bytes += record.bytes;
    } else batch.unreadable.push({ reason: 'unreadable', value });
    batch.records += 1;
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
    // 64 to a record: 20 times fewer writes in a burst than one by one (docs/outbox.md).
    if (group && group.length < 64 && bytes <= wireLimits.bytes) group.push(json);
    else {
      groups.push([json]);
      bytes = json.length;
    }
  }
  return groups;
}
