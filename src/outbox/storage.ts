import {
  type DurableStore,
  type EventRecord,
  type EventStore,
  exceeds,
  groupEvents,
  lengthOf,
  type QueuedEvent,
  recount,
} from './event-store.ts';
import type { Counts, Size } from './counts.ts';
import type { evict } from './evict.ts';

export interface StorageParts {
  store: DurableStore;
  memory: EventStore;
  bounds: Size;
  counts: Counts;
  nowMs(): number;
  /** A store grew or shrank. */
  onResize(source: EventStore, events: number, bytes: number): void;
  onError(error: unknown): void;
}

/** Writes events to the store, or to memory while the store fails, and keeps both within their bounds. */
export interface Storage {
  /** Resolves when the events are stored or were dropped. */
  append(events: QueuedEvent[]): Promise<void>;
  open(): Promise<void>;
  /** Counts the actual contents of the store, since other tabs write to it too. */
  recount(): Promise<void>;
}

/** Share of a bound at which the eviction code is fetched, so that it is available offline later. */
const prefetchShare = 0.05;

/** Creates the {@link Storage}. */
export function createStorage(parts: StorageParts): Storage {
  const { bounds, counts, memory, onError, store } = parts;
  const { diagnostics, shared } = counts;
  let loadingEvict: Promise<typeof evict> | undefined;
  /** Whether the quota stayed exceeded after an eviction. */
  let quotaExhausted = false;

  const sizeOf = (source: EventStore): Size => (source === store ? shared : counts.own);
  const loadEvict = (): Promise<typeof evict> => {
    loadingEvict ??= import('./evict.ts').then(
      (code) => code.evict,
      (error: unknown) => {
        // The next event tries again.
        loadingEvict = undefined;
        throw error;
      },
    );
    return loadingEvict;
  };
  const makeRoom = async (source: EventStore, target: Size): Promise<void> => {
    const run = await loadEvict();
    await run(source, target, (events) => {
      counts.drop('too_many', events.length);
      parts.onResize(source, -events.length, -lengthOf(events));
    });
  };
  const keepWithinBounds = async (source: EventStore): Promise<void> => {
    const size = sizeOf(source);
    if (exceeds(size, bounds)) await makeRoom(source, bounds).catch(onError);
    else if (
      exceeds(size, { events: bounds.events * prefetchShare, bytes: bounds.bytes * prefetchShare })
    )
      loadEvict().catch(onError);
  };

  const appendToStore = async (records: EventRecord[]): Promise<void> => {
    try {
      await store.append(records);
    } catch (error) {
      if (quotaExhausted || (error as Error | null)?.name !== 'QuotaExceededError') throw error;
      onError(error);
      // Where that makes no room, the next events must not cost more of the stored ones.
      quotaExhausted = true;
      await makeRoom(store, { events: bounds.events, bytes: shared.bytes * 0.8 }).catch(onError);
      await store.append(records);
    }
    quotaExhausted = false;
  };

  return {
    async append(events) {
      const at = parts.nowMs();
      const records = groupEvents(events).map((some): EventRecord => ({ v: 1, at, events: some }));
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
      parts.onResize(source, events.length, lengthOf(events.map(({ json }) => json)));
      await keepWithinBounds(source);
    },
    async open() {
      try {
        await store.open();
      } catch (error) {
        onError(error);
        diagnostics.storage = 'memory';
      }
    },
    async recount() {
      try {
        Object.assign(shared, await recount(store));
      } catch (error) {
        return onError(error);
      }
      await keepWithinBounds(store);
    },
  };
}
