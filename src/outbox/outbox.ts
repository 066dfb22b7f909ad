import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Locks } from '../platform/locks.ts';
import type {
  Connectivity,
  OpenTabChannel,
  PageLifecycle,
  PageTransition,
} from '../platform/page.ts';
import { type ServiceClient, toJson } from '../transport/service-client.ts';
import { type OutboxDiagnostics, createCounts, createStorage, adjustSize } from './storage.ts';
import { createDrain, type Pause } from './drain.ts';
import {
  createMemoryStore,
  createRecentEvents,
  type EventStore,
  keepaliveBytes,
  type QueuedEvent,
  type Size,
  smallBatch,
} from './event-store.ts';

/**
 * A message to the other tabs. It reports that the shared store's size has changed, that rewards were confirmed, or
 * that sending failed.
 */
export interface TabMessage {
  events?: number;
  bytes?: number;
  rewards?: RewardStatus[];
  pause?: Pause;
}

/** An event without the id and time that the outbox adds. */
export type NewAdEvent = Omit<AdEvent, 'id' | 'occurred_at'>;

/** A durable queue of events. It stores events on the device and sends them until the service acknowledges them. */
export interface Outbox {
  /**
   * Stores an event with the current time as its timestamp. If `after` is given, waits for it before storing. Resolves
   * when the event is stored or dropped. Stored events survive closing the page or the browser. `diagnostics()` counts
   * dropped events.
   */
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  /** Sends stored events. Resolves when the queue is empty or sending has failed. */
  flush(): Promise<void>;
  /**
   * Subscribes to the rewards in the service's acknowledgments, including acknowledgments that another tab received.
   * Returns a function that unsubscribes.
   */
  onRewards(listener: (rewards: RewardStatus[]) => void): () => void;
  diagnostics(): OutboxDiagnostics;
  /** Stops sending. Later events are stored for the next page load. */
  destroy(): void;
}

export interface OutboxDeps {
  /** Name prefix for the lock and the channel that the tabs share. Each publishable key has its own prefix. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  newId: NewId;
  /** Default: Web Locks. */
  locks?: Locks;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  openTabChannel: OpenTabChannel;
  /** The store that the tabs share. While it is failing, the outbox falls back to an in-memory store. */
  store: EventStore;
  /** Default: 20,000 events and 16 MB, enough for a busy game that is offline for weeks. */
  bounds?: Size;
}

/** The events from one task, stored in one transaction. */
interface Group {
  events: QueuedEvent[];
  stored: Promise<void>;
}

/** Creates the {@link Outbox}, and opens its store immediately, so that the first event does not wait. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { clock, lifecycle, store } = deps;
  const name = `${deps.name}:outbox`;
  const memory = createMemoryStore();
  const recent = createRecentEvents(keepaliveBytes);
  const listeners = new Set<(rewards: RewardStatus[]) => void>();
  const channel = deps.openTabChannel<TabMessage>(name);
  const counts = createCounts();
  const { diagnostics } = counts;
  let group: Group | undefined;
  /** Events that are being written. */
  const unwritten = new Set<QueuedEvent[]>();
  let isSlow = false;
  /** Whether the page is being frozen or unloaded. It may never run again. */
  let isSuspending = false;
  let destroyed = false;

  const onError = (error: unknown): void => {
    diagnostics.lastError = String(error);
  };
  const isWaiting = (): boolean =>
    counts.shared.events + counts.local.events + unwritten.size > 0 || group !== undefined;
  /** Clears the recent events if nothing is queued, because another tab may have sent them. */
  const clearRecentIfEmpty = (): void => {
    if (!isWaiting()) recent.clear();
  };
  const onTabMessage = (message: TabMessage): void => {
    const { events = 0, bytes = 0, rewards = [], pause } = message;
    adjustSize(counts.shared, events, bytes);
    clearRecentIfEmpty();
    if (rewards.length > 0) for (const listener of listeners) listener(rewards);
    if (pause) drain.pause(pause);
    if (events > 0) drain.wake();
  };
  const broadcast = (message: TabMessage): void => {
    if (!destroyed) channel.send(message);
  };
  const onResize = (source: EventStore, events: number, bytes: number): void => {
    if (source === store) broadcast({ events, bytes });
    adjustSize(source === store ? counts.shared : counts.local, events, bytes);
    clearRecentIfEmpty();
    if (events > 0) drain.wake();
  };

  const drain = createDrain({
    ...deps,
    name,
    mayLead: () => !isSuspending,
    counts,
    recent,
    memory,
    onError,
    onRewards(rewards) {
      broadcast({ rewards });
      onTabMessage({ rewards });
    },
    onRemoved(source, batch) {
      counts.drop('unreadable', batch.unreadable.length);
      onResize(source, -batch.events.length, -batch.bytes);
    },
    onEmpty(source) {
      // If the count is still above zero, something else deleted the events. For example, the player cleared the site
      // data.
      const { events, bytes } = source === store ? counts.shared : counts.local;
      if (events > 0) onResize(source, -events, -bytes);
    },
    onPause: (pause) => broadcast({ pause }),
  });
  const storage = createStorage({
    store,
    memory,
    bounds: deps.bounds ?? { events: 20_000, bytes: 16_000_000 },
    counts,
    nowMs: clock.now,
    onResize,
    onError,
  });

  /** Sends events before they are stored. Each event has its final id, so it is not sent again once it is stored. */
  const sendDirectly = (events: QueuedEvent[]): void => drain.sendDirectly(events, false);
  store.onSlow?.((slow) => {
    isSlow = slow;
    if (slow) sendDirectly(Array.from(unwritten).flat());
  });
  const append = async (events: QueuedEvent[]): Promise<void> => {
    unwritten.add(events);
    if (isSlow) sendDirectly(events);
    await storage.append(events);
    unwritten.delete(events);
    clearRecentIfEmpty();
  };
  /** Starts a group of events. It is written in a microtask, so that it includes every event from the current task. */
  const openGroup = (events: QueuedEvent[] = []): Group => ({
    events,
    stored: Promise.resolve().then(() => {
      group = undefined;
      return append(events);
    }),
  });
  const write = (event: QueuedEvent): Promise<void> => {
    group ??= openGroup();
    group.events.push(event);
    return group.stored;
  };

  const resumeSending = async (): Promise<void> => {
    // While this tab is draining the store, its counters are accurate already.
    if (!drain.isRunning()) await storage.recount();
    if (isWaiting()) drain.nudge();
  };

  const onTransition = (pageTransition: PageTransition): void => {
    isSuspending = pageTransition === 'leaving' || pageTransition === 'frozen';
    if (pageTransition === 'visible' || pageTransition === 'returned') return void resumeSending();
    if (!isWaiting()) return;
    // Sent synchronously, because the page may not run again after this task.
    drain.sendDirectly(recent.list(), true);
    // From here on, the browser may suspend the page at any time.
    drain.resign();
    // If this tab keeps running, it may become the leader again.
    drain.wake();
  };

  const disposers = [
    lifecycle.onTransition(onTransition),
    deps.connectivity.onOnline(() => isWaiting() && drain.nudge()),
  ];
  channel.onMessage(onTabMessage);
  void resumeSending();

  return {
    enqueue(event, after) {
      const id = deps.newId();
      const occurredAt = new Date(clock.now()).toISOString();
      const adEvent: AdEvent = { ...event, id, occurred_at: occurredAt };
      const queuedEvent = { id, json: toJson(adEvent) };
      if (queuedEvent.json.length > smallBatch.bytes) {
        counts.drop('too_large', 1);
        return Promise.resolve();
      }
      recent.add(queuedEvent);
      return after ? after.then(() => write(queuedEvent)) : write(queuedEvent);
    },
    async flush() {
      await group?.stored;
      drain.nudge();
      await drain.finished();
    },
    onRewards(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    diagnostics: counts.report,
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const dispose of disposers) dispose();
      drain.stop();
      listeners.clear();
      channel.close();
      // Events that were enqueued in this task must be written first.
      void Promise.resolve(group?.stored).finally(() => store.close());
    },
  };
}
