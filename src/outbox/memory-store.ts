import type { EventStore } from './event-store.ts';

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
