import { createMemoryStore, type EventStore, type QueuedEvent, type Size } from './event-store.ts';

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

/** A store and the size of its contents. */
export interface Queue {
  store: EventStore;
  size: Size;
}

/** What the outbox holds, and what became of its events. */
export interface OutboxState {
  /** The queue that the tabs share. */
  shared: Queue;
  /** This tab's queue in memory, for events that could not be stored. */
  local: Queue;
  /** The newest unacknowledged events. They fit in the single request that a page can send while it unloads. */
  recent: QueuedEvent[];
  /** Ids of events that are in flight, and of acknowledged events that may still be in a store. */
  handled: Set<string>;
  /** Drops that have not been reported to the service yet, by reason. */
  unreportedDrops: Record<string, number>;
  diagnostics: OutboxDiagnostics;
}

/** Creates the state of an empty outbox. */
export const createState = (store: EventStore): OutboxState => ({
  shared: { store, size: { events: 0, bytes: 0 } },
  local: { store: createMemoryStore(), size: { events: 0, bytes: 0 } },
  recent: [],
  handled: new Set(),
  unreportedDrops: {},
  diagnostics: { storage: 'indexeddb', stored: 0, sent: 0, dropped: {}, rejected: {} },
});

/** Adds `count` to the counter `name`. */
export const incrementCount = (
  counters: Record<string, number>,
  name: string,
  count: number,
): void => {
  if (count > 0) counters[name] = (counters[name] ?? 0) + count;
};

/** Counts dropped events, for diagnostics and for the service. */
export function countDrops(state: OutboxState, reason: DropReason, count: number): void {
  incrementCount(state.diagnostics.dropped, reason, count);
  incrementCount(state.unreportedDrops, reason, count);
}

/** Returns a copy of the diagnostics. */
export const report = ({ diagnostics, local, shared }: OutboxState): OutboxDiagnostics => ({
  ...diagnostics,
  dropped: { ...diagnostics.dropped },
  rejected: { ...diagnostics.rejected },
  stored: shared.size.events + local.size.events,
});
