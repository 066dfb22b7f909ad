import { delMany, entries, set, update } from 'idb-keyval';
import type { Clock } from '../platform/clock.ts';
import { createDatabase } from '../platform/database.ts';
import { isDue, type LedgerEntry } from './reward-machine.ts';

/** Remembers rewards on the device, and goes on in memory when the browser's storage fails. */
export interface Ledger {
  add(entry: LedgerEntry): Promise<void>;
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

const isEntry = (value: unknown): value is LedgerEntry =>
  (value as Partial<LedgerEntry> | undefined)?.v === 1;

/** Makes the ledger in the database `name`. */
export function createLedger(options: {
  name: string;
  clock: Clock;
  indexedDB?: IDBFactory | undefined;
}): Ledger {
  const database = createDatabase({ ...options, stores: { rewards: { autoIncrement: false } } });
  // Strict: an earned reward must survive a power cut too, and there are few writes.
  const store = database.store('rewards', 'strict');
  const mirror = new Map<string, LedgerEntry>();
  let lastError: string | undefined;

  /** Tries the storage; when it fails, what the mirror holds has to do. */
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      lastError = String(error);
      return false;
    }
  };
  const read = async (): Promise<void> => {
    const oldest = options.clock.now() - keptMs;
    const stale: string[] = [];
    for (const [key, value] of await entries<string, unknown>(store)) {
      if (!isEntry(value)) continue;
      const waiting = value.state === 'pending' || isDue(value);
      if (!waiting && value.trackedAt < oldest) stale.push(key);
      else mirror.set(key, value);
    }
    if (stale.length > 0) await delMany(stale, store);
  };

  return {
    async add(entry) {
      mirror.set(entry.decisionId, entry);
      await attempt(() => set(entry.decisionId, entry, store));
    },
    async change(decisionId, transition) {
      const apply = (stored: unknown): unknown => {
        // An entry that only memory has (its write failed) is stored now.
        const entry = isEntry(stored) ? stored : mirror.get(decisionId);
        if (entry === undefined) throw new Error(`The ledger has no entry for ${decisionId}.`);
        const next = transition(entry);
        mirror.set(decisionId, next);
        return next;
      };
      const stored = await attempt(() => update(decisionId, apply, store));
      const inMemory = mirror.get(decisionId);
      if (!stored && inMemory) mirror.set(decisionId, transition(inMemory));
      return mirror.get(decisionId);
    },
    seen: () => [...mirror.values()],
    async all() {
      await attempt(read);
      return [...mirror.values()];
    },
    health: () => ({
      storage: lastError === undefined ? 'indexeddb' : 'memory',
      ...(lastError !== undefined && { lastError }),
    }),
    close: () => database.close(),
  };
}
