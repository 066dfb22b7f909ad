import type { Clock } from '../platform/clock.ts';
import {
  waitForCommit,
  createDatabase,
  createPageReader,
  type StoredValue,
} from '../platform/database.ts';

/** A stored record: the events from one task, each as the JSON that is sent to the service. */
export interface EventRecord {
  /** Version of this format. */
  v: 1;
  /** Wall-clock time at which the record was stored, in milliseconds. */
  at: number;
  events: string[];
}

/** A record as read from the store. */
export type StoredRecord = StoredValue<number>;

/** A value that will not be sent but is kept for debugging. */
export interface SetAside {
  reason: string;
  value: unknown;
}

/** A queue of records. Keys increase monotonically, so records are read in insertion order. */
export interface EventStore {
  append(records: EventRecord[]): Promise<void>;
  /** Reads up to `limit` of the oldest records after `afterKey`. */
  read(afterKey: number, limit: number): Promise<StoredRecord[]>;
  /** Removes every record from `first` to `last`. */
  remove(first: number, last: number): Promise<void>;
  /** Replaces the events in records that still exist. Removes records that have no events left. */
  rewrite(changes: { key: number; record: EventRecord }[]): Promise<void>;
  setAside(entries: SetAside[]): Promise<void>;
  /** Calls `listener` when operations become slow, and again when they have recovered. */
  onSlow?(listener: (isSlow: boolean) => void): void;
  close(): void;
}

/** Whether a stored value is a record that this release can read. */
export const isEventRecord = (value: unknown): value is EventRecord => {
  const record = value as Partial<EventRecord> | null | undefined;
  return record?.v === 1 && typeof record.at === 'number' && Array.isArray(record.events);
};

/** An event as it is stored and sent. It is serialized once, when it happens. */
export interface QueuedEvent {
  id: string;
  json: string;
}

/** The size of a store or a batch. */
export interface Size {
  events: number;
  /** Length of the events' JSON, in UTF-16 code units. */
  bytes: number;
}

export const exceeds = (size: Size, bounds: Size): boolean =>
  size.events > bounds.events || size.bytes > bounds.bytes;

/** Batch limits that every release of the service accepts: 100 events and 64 KiB, minus the request envelope. */
export const smallBatch: Size = { events: 100, bytes: 60_000 };
/**
 * Maximum size of a `keepalive` request. All `keepalive` requests from a page, including those from other scripts,
 * share a limit of 64 KiB.
 */
export const keepaliveBytes = 15_000;

/** Returns the total length of stored events, in UTF-16 code units. */
export const measureLength = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

/**
 * The most recent unacknowledged events. All of them fit in the single request that a page can send while it unloads.
 */
export interface RecentEvents {
  add(event: QueuedEvent): void;
  remove(ids: string[]): void;
  clear(): void;
  list(): QueuedEvent[];
}

export function createRecentEvents(maxBytes: number): RecentEvents {
  const events = new Map<string, QueuedEvent>();
  let totalBytes = 0;
  const removeEvent = (id: string): void => {
    totalBytes -= events.get(id)?.json.length ?? 0;
    events.delete(id);
  };
  return {
    add(event) {
      events.set(event.id, event);
      totalBytes += event.json.length;
      while (totalBytes > maxBytes) removeEvent(events.keys().next().value ?? '');
    },
    remove: (ids) => ids.forEach(removeEvent),
    clear() {
      events.clear();
      totalBytes = 0;
    },
    list: () => Array.from(events.values()),
  };
}

/** Creates an in-memory store, for browsers without a usable database. */
export function createMemoryStore(): EventStore {
  const records = new Map<number, unknown>();
  let lastKey = 0;
  return {
    async append(added) {
      for (const record of added) records.set(++lastKey, record);
    },
    async read(afterKey, limit) {
      const laterRecords = Array.from(records).filter(([key]) => key > afterKey);
      return laterRecords.slice(0, limit).map(([key, value]) => ({ key, value }));
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
    // A no-op, because nobody could inspect the values after the page closes. They appear only in the diagnostics'
    // counts.
    setAside: async () => undefined,
    close: () => records.clear(),
  };
}

export interface IndexedDbStoreOptions {
  /** Name of the database. Tabs that use the same name share their events. */
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
}

/** Maximum number of values to set aside. Beyond that, each new value replaces the oldest one. */
const maxAside = 200;

/** Creates an IndexedDB store. */
export function createIndexedDbStore(options: IndexedDbStoreOptions): EventStore {
  let onSlow: ((isSlow: boolean) => void) | undefined;
  const database = createDatabase({
    ...options,
    onSlow: (isSlow) => onSlow?.(isSlow),
    stores: { events: { autoIncrement: true }, aside: { autoIncrement: true } },
  });
  const events = database.store('events');
  const aside = database.store('aside');

  /** Runs a write transaction and commits it before the current task ends. */
  const write = (work: (store: IDBObjectStore) => void): Promise<void> =>
    events('readwrite', (store) => {
      work(store);
      // Commits explicitly. An automatic commit needs another turn of the event loop, which a closing tab may never
      // get.
      store.transaction.commit();
      return waitForCommit(store.transaction);
    });

  return {
    onSlow(listener) {
      onSlow = listener;
    },
    append: (records) =>
      write((store) => {
        for (const record of records) store.add(record);
      }),
    read: createPageReader(events),
    remove: (first, last) => write((store) => store.delete(IDBKeyRange.bound(first, last))),
    rewrite: (changes) =>
      events('readwrite', (store) => {
        for (const { key, record } of changes) {
          if (record.events.length === 0) store.delete(key);
          else
            store.count(key).onsuccess = ({ target }) => {
              // Another tab may have sent and removed the record. Writing it back would send its events twice.
              if ((target as IDBRequest<number>).result === 1) store.put(record, key);
            };
        }
        return waitForCommit(store.transaction);
      }),
    setAside: (entries) =>
      aside('readwrite', (store) => {
        for (const entry of entries)
          store.add(entry).onsuccess = ({ target }) => {
            const newest = Number((target as IDBRequest<IDBValidKey>).result);
            store.delete(IDBKeyRange.upperBound(newest - maxAside));
          };
        return waitForCommit(store.transaction);
      }),
    close: database.close,
  };
}

/** Adds `count` to the counter `name`. */
export const incrementCount = (
  counters: Record<string, number>,
  name: string,
  count: number,
): void => {
  if (count > 0) counters[name] = (counters[name] ?? 0) + count;
};
