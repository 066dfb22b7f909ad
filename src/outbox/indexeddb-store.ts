import { promisifyRequest } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { completed, createDatabase } from '../platform/database.ts';
import type { DurableStore, StoredRecord } from './event-store.ts';

/** Newer than this many events that were set aside push the oldest ones out. */
const asideLimit = 200;

export interface IndexedDbStoreOptions {
  /** Name of the database; tabs that share it share their events. */
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
}

/**
 * Keeps events in IndexedDB. Not through idb-keyval's `createStore`, because that makes no increasing
 * keys: a range may be deleted after its acknowledgement only when no other tab can write into it.
 */
export function createIndexedDbStore(options: IndexedDbStoreOptions): DurableStore {
  let onSlow: ((isSlow: boolean) => void) | undefined;
  const database = createDatabase({
    ...options,
    onSlow: (isSlow) => onSlow?.(isSlow),
    stores: { events: { autoIncrement: true }, aside: { autoIncrement: true } },
  });
  const events = database.store('events');
  const aside = database.store('aside');

  /** Runs one write transaction, and hands it to the disk before the task ends. */
  const write = (use: typeof events, work: (store: IDBObjectStore) => void): Promise<void> =>
    use('readwrite', (store) => {
      work(store);
      // Explicitly: otherwise it waits for a turn of the event loop that a dying tab never gets.
      store.transaction.commit();
      return completed(store.transaction);
    });

  return {
    open: () => database.open(),
    onSlow(listener) {
      onSlow = listener;
    },
    append: (records) =>
      write(events, (store) => {
        for (const record of records) store.add(record);
      }),
    read: (afterKey, limit) =>
      events('readonly', async (store): Promise<StoredRecord[]> => {
        const range = IDBKeyRange.lowerBound(afterKey, true);
        const [keys, values] = await Promise.all([
          promisifyRequest(store.getAllKeys(range, limit)),
          promisifyRequest<unknown[]>(store.getAll(range, limit)),
        ]);
        return keys.map((key, index) => ({ key: Number(key), value: values[index] }));
      }),
    remove: (first, last) => write(events, (store) => store.delete(IDBKeyRange.bound(first, last))),
    rewrite: (changes) =>
      events('readwrite', (store) => {
        for (const { key, record } of changes) {
          if (record.events.length === 0) store.delete(key);
          else
            store.count(key).onsuccess = ({ target }) => {
              // Another tab may have sent and removed it since; writing it back would send it twice.
              if ((target as IDBRequest<number>).result === 1) store.put(record, key);
            };
        }
        return completed(store.transaction);
      }),
    setAside: (entries) =>
      aside('readwrite', (store) => {
        for (const entry of entries)
          store.add(entry).onsuccess = ({ target }) => {
            const newest = Number((target as IDBRequest<IDBValidKey>).result);
            store.delete(IDBKeyRange.upperBound(newest - asideLimit));
          };
        return completed(store.transaction);
      }),
    close: () => database.close(),
  };
}
