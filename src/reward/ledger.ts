import { delMany, update, values } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { createDatabase } from '../platform/database.ts';
import { toList } from '../platform/guard.ts';
import { isEntry, type LedgerEntry, progress } from './reward-machine.ts';

/** Stores rewards on the device. Falls back to memory while the browser's database is failing. */
export interface Ledger {
  /** Adds an entry unless the decision already has one. A decision may be shown again, but it has only one reward. */
  add(entry: LedgerEntry): Promise<unknown>;
  /** Changes an entry atomically across tabs. Returns undefined if there is no such entry. */
  change(
    decisionId: string,
    transition: (entry: LedgerEntry) => LedgerEntry,
  ): Promise<LedgerEntry | undefined>;
  /** Returns the entries as this tab last read or wrote them. */
  cached(): LedgerEntry[];
  /** Reads all entries, including those that other tabs wrote. */
  readAll(): Promise<LedgerEntry[]>;
  remove(decisionIds: string[]): Promise<void>;
  health(): { storage: 'indexeddb' | 'memory'; lastError?: string };
  close(): void;
}

/** Creates the ledger in the database `name`. */
export function createLedger(options: {
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
  /** Called with an entry after {@link Ledger.change} has changed it. */
  onChange?: (entry: LedgerEntry) => void;
}): Ledger {
  const database = createDatabase({ ...options, stores: { rewards: { autoIncrement: false } } });
  // An earned reward must survive a power failure. Writes are rare, so we can afford strict durability.
  const rewards = database.store('rewards', 'strict');
  const cache = new Map<string, LedgerEntry>();
  /** Ids of entries whose last change could not be stored. */
  const unsavedIds = new Set<string>();
  const health: ReturnType<Ledger['health']> = { storage: 'indexeddb' };

  const recordHealth = async (operation: Promise<unknown>): Promise<boolean> => {
    try {
      await operation;
      health.storage = 'indexeddb';
    } catch (error) {
      health.storage = 'memory';
      health.lastError = String(error);
    }
    return health.storage === 'indexeddb';
  };

  /** Applies a transition to the latest version of an entry, or to `initial` if there is none. */
  const write = async (
    initial: LedgerEntry,
    transition: (entry: LedgerEntry) => LedgerEntry,
  ): Promise<LedgerEntry> => {
    const { decisionId } = initial;
    const latest = (stored?: unknown): LedgerEntry => {
      const local = cache.get(decisionId) ?? initial;
      if (!isEntry(stored)) return local;
      // An unsaved change is newer than the stored entry, unless another tab has advanced the reward further.
      return unsavedIds.has(decisionId) && progress(local) >= progress(stored) ? local : stored;
    };
    let entry = initial;
    const operation = update<unknown>(
      decisionId,
      (stored) => (entry = transition(latest(stored))),
      rewards,
    );
    if (await recordHealth(operation)) unsavedIds.delete(decisionId);
    else {
      entry = transition(latest());
      unsavedIds.add(decisionId);
    }
    cache.set(decisionId, entry);
    return entry;
  };

  const cached = (): LedgerEntry[] => toList(cache.values());
  const readAll = async (): Promise<LedgerEntry[]> => {
    const reading = values<unknown>(rewards).then((stored) => {
      for (const entry of stored.filter(isEntry))
        if (!unsavedIds.has(entry.decisionId)) cache.set(entry.decisionId, entry);
    });
    await recordHealth(reading);
    return cached();
  };

  return {
    add: (added) => write(added, (entry) => entry),
    async change(decisionId, transition) {
      // `update()` would store a value for a missing entry, so check first.
      if (!cache.has(decisionId)) await readAll();
      const entry = cache.get(decisionId);
      if (!entry) return undefined;
      const changed = await write(entry, transition);
      options.onChange?.(changed);
      return changed;
    },
    cached,
    readAll,
    async remove(decisionIds) {
      await recordHealth(delMany(decisionIds, rewards));
    },
    health: () => ({ ...health }),
    close: database.close,
  };
}
