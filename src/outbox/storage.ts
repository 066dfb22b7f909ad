import {
  type EventRecord,
  exceeds,
  isEventRecord,
  measureEvents,
  measureLength,
  type QueuedEvent,
  readAll,
  type Size,
} from './event-store.ts';
import { evict } from './evict.ts';
import { countDrops, type OutboxState, type Queue } from './state.ts';

export interface StorageDeps {
  state: OutboxState;
  bounds: Size;
  /** Called when a queue grows or shrinks. */
  onResize(queue: Queue, events: number, bytes: number): void;
  onError(error: unknown): void;
}

/** Writes events to the store, and falls back to memory while the store is failing. Keeps both within bounds. */
export interface Storage {
  /** Resolves when the events have been stored or dropped. */
  append(events: QueuedEvent[]): Promise<void>;
  /** Opens the shared store and counts its contents. Other tabs write to this store too. */
  recount(): Promise<void>;
}

/** Maximum length of a record, and therefore of an event, in UTF-16 code units. It fits in any request. */
export const maxRecordBytes = 60_000;
/** With 64 events per record instead of one, a burst takes only one-twentieth as many writes (docs/outbox.md). */
const maxRecordEvents = 64;

/** Splits the events from one task into records. */
function groupEvents(events: QueuedEvent[]): EventRecord[] {
  const records: EventRecord[] = [];
  let bytes = 0;
  for (const { json } of events) {
    const record = records.at(-1);
    bytes += json.length;
    if (record && record.events.length < maxRecordEvents && bytes <= maxRecordBytes)
      record.events.push(json);
    else {
      records.push({ v: 1, events: [json] });
      bytes = json.length;
    }
  }
  return records;
}

/** Creates the {@link Storage}. */
export function createStorage({ bounds, onError, onResize, state }: StorageDeps): Storage {
  const { diagnostics, local, shared } = state;
  /** Whether the last eviction failed to free enough space. */
  let quotaExhausted = false;

  const makeRoom = (queue: Queue, target: Size): Promise<void> =>
    evict(queue.store, target, (events) => {
      countDrops(state, 'too_many', events.length);
      onResize(queue, -events.length, -measureLength(events));
    }).catch(onError);
  const keepWithinBounds = async (queue: Queue): Promise<void> => {
    if (exceeds(queue.size, bounds)) await makeRoom(queue, bounds);
  };

  const appendToStore = async (records: EventRecord[]): Promise<void> => {
    try {
      await shared.store.append(records);
    } catch (error) {
      if (quotaExhausted || (error as Error | null)?.name !== 'QuotaExceededError') throw error;
      onError(error);
      // If this eviction does not free enough space, later events must not trigger another one.
      quotaExhausted = true;
      await makeRoom(shared, { events: bounds.events, bytes: shared.size.bytes * 0.8 });
      await shared.store.append(records);
    }
    quotaExhausted = false;
  };

  return {
    async append(events) {
      const records = groupEvents(events);
      let queue = shared;
      try {
        await appendToStore(records);
        diagnostics.storage = 'indexeddb';
      } catch (error) {
        onError(error);
        diagnostics.storage = 'memory';
        queue = local;
        await local.store.append(records);
      }
      onResize(queue, events.length, measureEvents(events));
      await keepWithinBounds(queue);
    },
    async recount() {
      try {
        const records = await readAll(shared.store);
        const events = records.flatMap(({ value }) => (isEventRecord(value) ? value.events : []));
        shared.size = { events: events.length, bytes: measureLength(events) };
      } catch (error) {
        diagnostics.storage = 'memory';
        return onError(error);
      }
      await keepWithinBounds(shared);
    },
  };
}
