import type { AdEvent } from '../../protocol/wire.ts';
import { isEventRecord, type EventRecord, type StoredRecord } from './event-store.ts';

/** How much may wait; more than that is sacrificed. */
export interface Bounds {
  events: number;
  /** Length of the stored JSON, in UTF-16 units. */
  bytes: number;
}

/** What an event is worth when room is short: the lowest goes first, completions are money and go last. */
const worth: Record<AdEvent['type'], number> = {
  first_quartile: 0,
  midpoint: 0,
  third_quartile: 0,
  viewable: 0,
  skip: 0,
  close: 0,
  error: 0,
  start: 1,
  click: 1,
  impression: 2,
  complete: 3,
};

const worthOf = (json: string): number => {
  const type = /"type":"(\w+)"/.exec(json)?.[1] ?? '';
  return type in worth ? worth[type as AdEvent['type']] : 0;
};

/** Frees a tenth more than needed, so that a full queue does not make this run for every event. */
const headroom = 0.9;

export interface Sacrifice {
  changes: { key: number; record: EventRecord }[];
  /** How many events go. */
  dropped: number;
  /** What is left. */
  left: { events: number; bytes: number };
}

/** Chooses the events to give up: the least worth first, among equals the oldest. */
export function planSacrifice(records: StoredRecord[], bounds: Bounds): Sacrifice {
  const known = records.flatMap(({ key, value }) =>
    isEventRecord(value) ? [{ key, record: value }] : [],
  );
  const all = known.flatMap(({ key, record }) =>
    record.events.map((json) => ({ key, json, worth: worthOf(json) })),
  );
  const left = { events: all.length, bytes: all.reduce((sum, { json }) => sum + json.length, 0) };
  const tooMuch = left.events > bounds.events || left.bytes > bounds.bytes;
  const victims = new Map<number, Set<string>>();
  for (const { key, json } of tooMuch ? [...all].sort((a, b) => a.worth - b.worth) : []) {
    if (left.events <= bounds.events * headroom && left.bytes <= bounds.bytes * headroom) break;
    victims.set(key, (victims.get(key) ?? new Set()).add(json));
    left.events -= 1;
    left.bytes -= json.length;
  }
  const changes = known.flatMap(({ key, record }) => {
    const gone = victims.get(key);
    if (gone === undefined) return [];
    return [
      { key, record: { ...record, events: record.events.filter((json) => !gone.has(json)) } },
    ];
  });
  return { changes, dropped: all.length - left.events, left };
}
