import { readInPages } from '../platform/database.ts';
import {
  incrementCount,
  type EventRecord,
  type EventStore,
  exceeds,
  isEventRecord,
  measureLength,
  type QueuedEvent,
  type Size,
  smallBatch,
} from './event-store.ts';
import { evict } from './evict.ts';

/** Why events were dropped. `unreadable` counts records, because it is unknown how many events they contained. */
export type DropReason = 'too_many' | 'too_large' | 'unreadable';

/** The state of the outbox. An event counts as `stored` until it is `sent`, `dropped` or `rejected`. */
export interface OutboxDiagnostics {
  /** `memory` while the browser’s database is unavailable. In that case, events are lost when the page closes. */
  storage: 'indexeddb' | 'memory';
  /** Queued events, including those from other tabs. */
  stored: number;
  /** Events that this tab sent, including events that other tabs stored. */
  sent: number;
  /** Dropped events, by reason. */
  dropped: Partial<Record<DropReason, number>>;
  /** Events that the service rejected, by error code. */
  rejected: Record<string, number>;
  lastError?: string;
}

/** Adjusts a size. Clamps the result at zero, because messages from other tabs may arrive late. */
export const adjustSize = (size: Size, events: number, bytes: number): void => {
  size.events = Math.max(0, size.events + events);
  size.bytes = Math.max(0, size.bytes + bytes);
};

/** The queue size, and counters for sent, dropped and rejected events. */
export interface Counts {
  /** Size of the store that the tabs share. */
  shared: Size;
  /** Size of this tab's in-memory store. */
  local: Size;
  diagnostics: OutboxDiagnostics;
  drop(reason: DropReason, count: number): void;
  /** Drops that have not been reported to the service yet, by reason. */
  unreportedDrops: Record<string, number>;
  report(): OutboxDiagnostics;
}

/**
 * Creates the counters for queued, sent, dropped and rejected events, for diagnostics and for reporting to the service.
 */
export function createCounts(): Counts {
  const shared = { events: 0, bytes: 0 };
  const local = { events: 0, bytes: 0 };
  const diagnostics: OutboxDiagnostics = {
    storage: 'indexeddb',
    stored: 0,
    sent: 0,
    dropped: {},
    rejected: {},
  };
  const counts: Counts = {
    shared,
    local,
    diagnostics,
    unreportedDrops: {},
    drop(reason, count) {
      incrementCount(diagnostics.dropped, reason, count);
      incrementCount(counts.unreportedDrops, reason, count);
    },
    report: () => ({
      ...diagnostics,
      dropped: { ...diagnostics.dropped },
      rejected: { ...diagnostics.rejected },
      stored: shared.events + local.events,
    }),
  };
  return counts;
}

export interface StorageDeps {
  store: EventStore;
  memory: EventStore;
  bounds: Size;
  counts: Counts;
  nowMs(): number;
  /** Called when a store grows or shrinks. */
  onResize(source: EventStore, events: number, bytes: number): void;
  onError(error: unknown): void;
}

/** Writes events to the store, and falls back to memory while the store is failing. Keeps both within bounds. */
export interface Storage {
  /** Resolves when the events have been stored or dropped. */
  append(events: QueuedEvent[]): Promise<void>;
  /** Opens the shared store and counts its contents. Other tabs write to this store too. */
  recount(): Promise<void>;
}

/** Splits the events from one task into records, each of which fits in a single request. */
function groupEvents(events: QueuedEvent[]): string[][] {
  const groups: string[][] = [];
  let bytes = 0;
  for (const { json } of events) {
    const group = groups.at(-1);
    bytes += json.length;
    // With 64 events per record instead of one, a burst takes only one-twentieth as many writes (docs/outbox.md).
    if (group && group.length < 64 && bytes <= smallBatch.bytes) group.push(json);
    else {
      groups.push([json]);
      bytes = json.length;
    }
  }
  return groups;
}

/** Measures a store's actual size. */
async function measureStore(store: EventStore): Promise<Size> {
  const size = { events: 0, bytes: 0 };
  await readInPages(store.read, (records) => {
    for (const { value } of records) {
      if (!isEventRecord(value)) continue;
      size.events += value.events.length;
      size.bytes += measureLength(value.events);
    }
  });
  return size;
}

/** Creates the {@link Storage}. */
export function createStorage(deps: StorageDeps): Storage {
  const { bounds, counts, memory, onError, store } = deps;
  const { diagnostics, shared } = counts;
  /** Whether the last eviction failed to free enough space. */
  let quotaExhausted = false;

  const getSize = (source: EventStore): Size => (source === store ? shared : counts.local);
  const makeRoom = (source: EventStore, target: Size): Promise<void> =>
    evict(source, target, (events) => {
      counts.drop('too_many', events.length);
      deps.onResize(source, -events.length, -measureLength(events));
    });
  const keepWithinBounds = async (source: EventStore): Promise<void> => {
    if (exceeds(getSize(source), bounds)) await makeRoom(source, bounds).catch(onError);
  };

  const appendToStore = async (records: EventRecord[]): Promise<void> => {
    try {
      await store.append(records);
    } catch (error) {
      if (quotaExhausted || (error as Error | null)?.name !== 'QuotaExceededError') throw error;
      onError(error);
      // If this eviction does not free enough space, later events must not trigger another one.
      quotaExhausted = true;
      await makeRoom(store, { events: bounds.events, bytes: shared.bytes * 0.8 }).catch(onError);
      await store.append(records);
    }
    quotaExhausted = false;
  };

  return {
    async append(events) {
      const at = deps.nowMs();
      const records = groupEvents(events).map((group): EventRecord => ({
        v: 1,
        at,
        events: group,
      }));
      let source: EventStore = store;
      try {
        await appendToStore(records);
        diagnostics.storage = 'indexeddb';
      } catch (error) {
        onError(error);
        diagnostics.storage = 'memory';
        source = memory;
        await memory.append(records);
      }
      deps.onResize(source, events.length, measureLength(events.map(({ json }) => json)));
      await keepWithinBounds(source);
    },
    async recount() {
      try {
        Object.assign(shared, await measureStore(store));
      } catch (error) {
        diagnostics.storage = 'memory';
        return onError(error);
      }
      await keepWithinBounds(store);
    },
  };
}
