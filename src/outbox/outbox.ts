import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { toList } from '../platform/guard.ts';
import type { NewId } from '../platform/ids.ts';
import { browserLocks, type Locks } from '../platform/locks.ts';
import { native } from '../platform/native.ts';
import type {
  Connectivity,
  OpenTabChannel,
  PageLifecycle,
  PageTransition,
} from '../platform/page.ts';
import type { Pause } from '../transport/back-off.ts';
import { type ServiceClient, toJson } from '../transport/service-client.ts';
import { createDrain, keepaliveBytes } from './drain.ts';
import { type EventStore, measureEvents, type QueuedEvent, type Size } from './event-store.ts';
import { countDrops, createState, type OutboxDiagnostics, type Queue, report } from './state.ts';
import { createStorage, maxRecordBytes } from './storage.ts';

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
   * Sets the function that is called with the rewards in the service's acknowledgments, including acknowledgments that
   * another tab received.
   */
  onRewards(listener: (rewards: RewardStatus[]) => void): void;
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
  /** Default: {@link defaultBounds}. */
  bounds?: Size;
}

/** What the queue holds at most: enough for a busy game that is offline for weeks. */
const defaultBounds: Size = { events: 20_000, bytes: 16_000_000 };

/** The events from one task, stored in one transaction. */
interface Group {
  events: QueuedEvent[];
  stored: Promise<void>;
}

/** Creates the {@link Outbox}, and opens its store immediately, so that the first event does not wait. */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { bounds = defaultBounds, clock, lifecycle, store } = deps;
  const name = `${deps.name}:outbox`;
  const channel = deps.openTabChannel<TabMessage>(name);
  const state = createState(store);
  const { diagnostics, local, shared } = state;
  let onRewards = (_rewards: RewardStatus[]): void => undefined;
  let group: Group | undefined;
  /** Events that are being written. */
  const unwritten = new Set<QueuedEvent[]>();
  /** Whether the page is being frozen or unloaded. It may never run again. */
  let isSuspending = false;
  let isHidden = false;
  let destroyed = false;

  const onError = (error: unknown): void => {
    diagnostics.lastError = String(error);
  };
  const isWaiting = (): boolean =>
    shared.size.events + local.size.events + unwritten.size > 0 || group !== undefined;
  const broadcast = (message: TabMessage): void => {
    if (!destroyed) channel.send(message);
  };
  /** Adjusts a queue's size. Clamps it at zero, because messages from other tabs may arrive late. */
  const resize = (queue: Queue, events: number, bytes: number): void => {
    queue.size = {
      events: Math.max(0, queue.size.events + events),
      bytes: Math.max(0, queue.size.bytes + bytes),
    };
    forgetSentEvents();
  };
  /** Forgets the sent events if nothing is queued. Another tab may have removed them from the store. */
  const forgetSentEvents = (): void => {
    if (isWaiting()) return;
    state.recent = [];
    state.handled.clear();
  };
  const onResize = (queue: Queue, events: number, bytes: number): void => {
    if (queue === shared) broadcast({ events, bytes });
    resize(queue, events, bytes);
    if (events > 0) drain.wake();
  };

  const storage = createStorage({ state, bounds, onResize, onError });
  const drain = createDrain({
    locks: browserLocks(),
    ...deps,
    name,
    state,
    mayLead: () => !isSuspending,
    onError,
    onResize,
    onRewards(rewards) {
      broadcast({ rewards });
      onRewards(rewards);
    },
    onPause: (pause) => broadcast({ pause }),
  });
  // Each event already has its final id, so it is not sent again once it is stored.
  store.onSlow?.(() => drain.sendDirectly(toList(unwritten).flat(), false));
  channel.onMessage(({ events = 0, bytes = 0, rewards = [], pause }) => {
    if (events !== 0 || bytes !== 0) resize(shared, events, bytes);
    // The tab that stored the events sends them. A visible tab also waits for its turn, in case that tab dies. A hidden
    // one could be suspended as soon as it has its turn, and would then block the others.
    if (events > 0 && !isHidden) drain.wake();
    if (rewards.length > 0) onRewards(rewards);
    if (pause) drain.pause(pause);
  });

  const append = async (events: QueuedEvent[]): Promise<void> => {
    unwritten.add(events);
    await storage.append(events);
    unwritten.delete(events);
    forgetSentEvents();
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
    isHidden = pageTransition !== 'visible' && pageTransition !== 'returned';
    // A page that is being unloaded becomes hidden afterward.
    isSuspending = isHidden && (isSuspending || pageTransition !== 'hidden');
    if (!isHidden) return void resumeSending();
    // From here on, the browser may suspend the page at any time. Even with nothing left to send, the tab may still hold
    // the lock.
    drain.resign();
    if (!isWaiting()) return;
    // Sent synchronously, because the page may not run again after this task.
    drain.sendDirectly(state.recent, true);
    // If this tab keeps running, it may become the leader again.
    drain.wake();
  };

  const disposers = [
    lifecycle.onTransition(onTransition),
    deps.connectivity.onOnline(() => isWaiting() && drain.nudge()),
  ];
  void resumeSending();

  return {
    enqueue(event, after) {
      const id = deps.newId();
      const occurredAt = new native.Date(clock.now()).toISOString();
      const adEvent: AdEvent = { ...event, id, occurred_at: occurredAt };
      const queuedEvent = { id, json: toJson(adEvent) };
      if (queuedEvent.json.length > maxRecordBytes) {
        countDrops(state, 'too_large', 1);
        return Promise.resolve();
      }
      state.recent.push(queuedEvent);
      while (measureEvents(state.recent) > keepaliveBytes) state.recent.shift();
      return after ? after.then(() => write(queuedEvent)) : write(queuedEvent);
    },
    async flush() {
      await group?.stored;
      drain.nudge();
      await drain.finished();
    },
    onRewards(listener) {
      onRewards = listener;
    },
    diagnostics: () => report(state),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const dispose of disposers) dispose();
      drain.stop();
      onRewards = () => undefined;
      channel.close();
      // Events that were enqueued in this task must be written first.
      void Promise.resolve(group?.stored).finally(() => store.close());
    },
  };
}
