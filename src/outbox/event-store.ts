import type { Size } from './counts.ts';

/** What is stored at once: the events of one task, each as the JSON that goes to the service. */
export interface EventRecord {
  /** The format of this record; another release may find it. */
  v: 1;
  /** Wall time when it was stored, in milliseconds. */
  at: number;
  events: string[];
}

/** A record as it was found; `value` is not trusted, another release may have written it. */
export interface StoredRecord {
  key: number;
  value: unknown;
}

/** An event that will not be sent, kept for whoever looks into it. */
export interface SetAside {
  reason: string;
  value: unknown;
}

/** Where events wait. Keys increase; what is stored later is read later. */
export interface EventStore {
  append(records: EventRecord[]): Promise<void>;
  /** The oldest records after `afterKey`, at most `limit`. */
  read(afterKey: number, limit: number): Promise<StoredRecord[]>;
  /** Removes every record from `first` to `last`. */
  remove(first: number, last: number): Promise<void>;
  /** Replaces the events of records that still exist; a record without events is removed. */
  rewrite(changes: { key: number; record: EventRecord }[]): Promise<void>;
  setAside(entries: SetAside[]): Promise<void>;
  close(): void;
}

/** A store that survives the page. */
export interface DurableStore extends EventStore {
  open(): Promise<void>;
  /** Tells when the storage takes long, and when it does no more. */
  onSlow?(listener: (isSlow: boolean) => void): void;
}

/** Whether a stored value is a record that this release understands. */
export const isEventRecord = (value: unknown): value is EventRecord => {
  const record = value as Partial<EventRecord> | null | undefined;
  return record?.v === 1 && typeof record.at === 'number' && Array.isArray(record.events);
};

/** An event as it is stored and sent: serialized once, when it happened. */
export interface QueuedEvent {
  id: string;
  json: string;
}

/** The limits of one request. `bytes` is the length of the events' JSON, in UTF-16 units. */
export interface BatchLimits {
  events: number;
  bytes: number;
}

/** Limits of every release of the service: 100 events and 64 KiB, less room for the envelope. */
export const smallBatch: BatchLimits = { events: 100, bytes: 60_000 };
/** `keepalive` bodies of a page may have 64 KiB in flight together, other scripts included. */
export const keepaliveBytes = 15_000;

/** Length of stored events, in UTF-16 units. */
export const lengthOf = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

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

/** Keeps events as long as the page lives; for browsers that refuse a database. */
export function createMemoryStore(): EventStore {
  const records = new Map<number, unknown>();
  let lastKey = 0;
  return {
    async append(added) {
      for (const record of added) records.set(++lastKey, record);
    },
    async read(afterKey, limit) {
      const later = Array.from(records).filter(([key]) => key > afterKey);
      return later.slice(0, limit).map(([key, value]) => ({ key, value }));
    },
    async remove(first, last) {
      for (const key of records.keys()) if (key >= first && key <= last) records.delete(key);
    },
    async rewrite(changes) {
      for (const { key, record } of changes) {
        if (record.events.length === 0) records.delete(key);
        else if (records.has(key)) records.set(key, record);
      }
    },
    // What is set aside is counted in the diagnostics; without a database nobody could look at it later.
    setAside: async () => undefined,
    close: () => records.clear(),
  };
}

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

/** The latest events without an acknowledgement, up to the size of one request of a page that is being left. */
export interface RecentEvents {
  add(event: QueuedEvent): void;
  remove(ids: string[]): void;
  clear(): void;
  list(): QueuedEvent[];
}

export function createRecentEvents(maxBytes: number): RecentEvents {
  const events = new Map<string, QueuedEvent>();
  let total = 0;
  const drop = (id: string): void => {
    total -= events.get(id)?.json.length ?? 0;
    events.delete(id);
  };
  return {
    add(event) {
      events.set(event.id, event);
      total += event.json.length;
      while (total > maxBytes) drop(events.keys().next().value ?? '');
    },
    remove: (ids) => ids.forEach(drop),
    clear() {
      events.clear();
      total = 0;
    },
    list: () => Array.from(events.values()),
  };
}
