import { promisifyRequest } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { createDatabase, waitForCommit } from '../platform/database.ts';
import { toList } from '../platform/guard.ts';

/** A stored record: the events from one task, each as the JSON that is sent to the service. */
export interface EventRecord {
  /** Version of this format. */
  v: 1;
  events: string[];
}

/** A record as read from the store. */
export interface StoredRecord {
  key: number;
  /** Not validated. Another release may have written the value. */
  value: unknown;
}

/** A queue of records. Keys increase monotonically, so records are read in insertion order. */
export interface EventStore {
  append(records: EventRecord[]): Promise<void>;
  /** Reads up to {@link pageSize} of the oldest records after `afterKey`. */
  read(afterKey: number): Promise<StoredRecord[]>;
  /** Removes every record from `first` to `last`. */
  remove(first: number, last: number): Promise<void>;
  /** Replaces the events in records that still exist. Removes records that have no events left. */
  rewrite(changes: { key: number; record: EventRecord }[]): Promise<void>;
  /** Calls `listener` every half second while an operation takes longer than that. */
  onSlow?(listener: () => void): void;
  close(): void;
}

/** Whether a stored value is a record that this release can read. */
export const isEventRecord = (value: unknown): value is EventRecord => {
  const record = value as Partial<EventRecord> | null | undefined;
  return (
    record?.v === 1 &&
    Array.isArray(record.events) &&
    record.events.every((json: unknown) => typeof json === 'string')
  );
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

/** Returns the total length of stored events, in UTF-16 code units. */
export const measureLength = (events: string[]): number =>
  events.reduce((sum, json) => sum + json.length, 0);

/** Returns the total length of queued events, in UTF-16 code units. */
export const measureEvents = (events: QueuedEvent[]): number =>
  events.reduce((sum, { json }) => sum + json.length, 0);

/** Maximum number of records per read. Reading 250 records blocks the main thread for a few milliseconds. */
export const pageSize = 250;

/** Reads a whole store, one page at a time. */
export async function readAll(store: EventStore): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (;;) {
    const page = await store.read(records.at(-1)?.key ?? -1);
    records.push(...page);
    if (page.length < pageSize) return records;
  }
}

/** Creates an in-memory store, for browsers without a usable database. */
export function createMemoryStore(): EventStore {
  const records = new Map<number, unknown>();
  let lastKey = 0;
  return {
    async append(added) {
      for (const record of added) records.set(++lastKey, record);
    },
    async read(afterKey) {
      const laterRecords = toList(records).filter(([key]) => key > afterKey);
      return laterRecords.slice(0, pageSize).map(([key, value]) => ({ key, value }));
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
    close: () => records.clear(),
  };
}

export interface IndexedDbStoreOptions {
  /** Name of the database. Tabs that use the same name share their events. */
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
}

/** Creates an IndexedDB store. */
export function createIndexedDbStore(options: IndexedDbStoreOptions): EventStore {
  let onSlow = (): void => undefined;
  const database = createDatabase({
    ...options,
    onSlow: () => onSlow(),
    stores: { events: { autoIncrement: true } },
  });
  const events = database.store('events');

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
    read: (afterKey) =>
      events('readonly', async (store) => {
        const range = IDBKeyRange.lowerBound(afterKey, true);
        const [keys, values] = await Promise.all([
          promisifyRequest(store.getAllKeys(range, pageSize)),
          promisifyRequest<unknown[]>(store.getAll(range, pageSize)),
        ]);
        // Our keys are numbers. Others, such as those that a player has added by hand, come last and are left alone.
        return keys.flatMap((key, index) =>
          typeof key === 'number' ? [{ key, value: values[index] }] : [],
        );
      }),
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
    close: database.close,
  };
}
