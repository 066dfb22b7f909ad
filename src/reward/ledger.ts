import { promisifyRequest } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { completed, createDatabase } from '../platform/database.ts';
import { isOpen, isEntry, type LedgerEntry, progress } from './reward-machine.ts';

/** Remembers rewards on the device, and goes on in memory while the browser's storage fails. */
export interface Ledger {
  /** Adds an entry, unless its decision is known: it may be shown again, and is still one reward. */
  add(entry: LedgerEntry): Promise<unknown>;
  /** Changes an entry atomically, against other tabs too. Undefined when there is no such entry. */
  change(
    decisionId: string,
    transition: (entry: LedgerEntry) => LedgerEntry,
  ): Promise<LedgerEntry | undefined>;
  /** What this tab last saw, without asking the storage. */
  seen(): LedgerEntry[];
  /** Reads what is stored, other tabs' entries included. */
  all(): Promise<LedgerEntry[]>;
  health(): { storage: 'indexeddb' | 'memory'; lastError?: string };
  close(): void;
}

/** Longer than any late window (7 days), so that support can still see what became of a reward. */
const keptMs = 30 * 86_400_000;

/** So many entries are read at once: a thousand cost a task of 7 ms. */
const pageSize = 200;

/** Creates the ledger in the database `name`. */
export function createLedger(options: {
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
}): Ledger {
  const database = createDatabase({ ...options, stores: { rewards: { autoIncrement: false } } });
  // Strict: an earned reward must survive a power cut too, and there are few writes.
  const rewards = database.store('rewards', 'strict');
  const mirror = new Map<string, LedgerEntry>();
  /** Entries whose last change only the mirror has. */
  const unsaved = new Set<string>();
  let storage: 'indexeddb' | 'memory' = 'indexeddb';
  let lastError: string | undefined;

  /** Tries the storage; when it fails, what the mirror holds has to do. */
  const attempt = async (work: (store: IDBObjectStore) => Promise<void>): Promise<boolean> => {
    try {
      await rewards('readwrite', async (store) => {
        await work(store);
        await completed(store.transaction);
      });
      storage = 'indexeddb';
    } catch (error) {
      storage = 'memory';
      lastError = String(error);
    }
    return storage === 'indexeddb';
  };

  /** Puts what `next` makes of the known entry; only memory changes when the storage fails. */
  const write = async (
    decisionId: string,
    next: (known: LedgerEntry | undefined) => LedgerEntry | undefined,
  ): Promise<LedgerEntry | undefined> => {
    // What only memory has is stored now; what is stored is older, unless another tab has brought it further.
    const known = (stored?: unknown) => {
      const own = mirror.get(decisionId);
      if (!isEntry(stored)) return own;
      return own && unsaved.has(decisionId) && progress(own) >= progress(stored) ? own : stored;
    };
    let entry: LedgerEntry | undefined;
    const stored = await attempt(async (store) => {
      entry = next(known(await promisifyRequest<unknown>(store.get(decisionId))));
      if (entry) store.put(entry, decisionId);
    });
    if (stored) unsaved.delete(decisionId);
    else {
      entry = next(known());
      unsaved.add(decisionId);
    }
    if (entry) mirror.set(decisionId, entry);
    return entry;
  };

  return {
    add: (entry) => write(entry.decisionId, (known) => known ?? entry),
    change: (decisionId, transition) => write(decisionId, (known) => known && transition(known)),
    seen: () => Array.from(mirror.values()),
    async all() {
      const oldest = options.clock.now() - keptMs;
      await attempt(async (store) => {
        for (let after: IDBKeyRange | undefined; ;) {
          const values = promisifyRequest<unknown[]>(store.getAll(after, pageSize));
          const keys = await promisifyRequest(store.getAllKeys(after, pageSize));
          for (const entry of await values) {
            if (!isEntry(entry)) continue;
            const { decisionId } = entry;
            if (!isOpen(entry) && entry.trackedAt < oldest) store.delete(decisionId);
            else if (!unsaved.has(decisionId)) mirror.set(decisionId, entry);
          }
          if (keys.length < pageSize) return;
          after = IDBKeyRange.lowerBound(keys.at(-1), true);
        }
      });
      return Array.from(mirror.values());
    },
    health: () => ({ storage, ...(lastError !== undefined && { lastError }) }),
    close: () => database.close(),
  };
}
