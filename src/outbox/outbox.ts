import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity, PageLifecycle, PageMoment } from '../platform/page-lifecycle.ts';
import type { NewId } from '../platform/ids.ts';
import { toJson } from '../platform/json.ts';
import type { Locks } from '../platform/locks.ts';
import type { OpenTabSignal } from '../platform/tab-signal.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { createCounts, grow, type Size } from './counts.ts';
import type { createDrain, Drain, DrainParts } from './drain.ts';
import {
  createMemoryStore,
  createRecentEvents,
  type DurableStore,
  type EventStore,
  keepaliveBytes,
  type QueuedEvent,
  smallBatch,
} from './event-store.ts';
import { createStorage } from './storage.ts';

/** A pause after a failure, in which no tab sends. */
export interface Pause {
  ms: number;
  /** Number of consecutive failures, so that the next pause is longer in whichever tab. */
  failures: number;
  /** Whether the service asked for it by `Retry-After`. */
  demanded: boolean;
}

/** What a tab broadcasts: how the shared store grew or shrank, what the service answered, and when it failed. */
export interface TabMessage {
  events?: number;
  bytes?: number;
  rewards?: RewardStatus[];
  pause?: Pause;
}

/** An event before the outbox gives it its id and time. */
export type NewAdEvent = Omit<AdEvent, 'id' | 'occurred_at'>;

/** Takes events and sees to it that the service gets each of them once, whatever happens to the page. */
export interface Outbox {
  /** Loads the code that sends, so that the first event does not wait for it. */
  prefetch(): void;
  /**
   * Resolves when the event is stored; from then on it survives the page and the browser. It also
   * resolves when the event was given up at once, which `diagnostics()` counts. The event happens now,
   * even if its write has to wait for `after`.
   */
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  /** Sends what is stored; resolves when the queue is empty or sending has failed. */
  flush(): Promise<void>;
  /**
   * The rewards that came back with an acknowledgement, also when another tab got it. The function
   * that it returns ends this.
   */
  onRewards(listener: (rewards: RewardStatus[]) => void): () => void;
  diagnostics(): OutboxDiagnostics;
  /** Sends nothing any more; what is enqueued afterwards is still stored, for the next page. */
  destroy(): void;
}

/** Every event is counted under `stored` until it is under one of `sent`, `dropped` and `rejected`. */
export interface OutboxDiagnostics {
  /** `memory` while the browser refuses a database: events do not survive the page then. */
  storage: 'indexeddb' | 'memory';
  /** Events that wait, those of other tabs included. */
  stored: number;
  /** Events of this tab and others that this tab delivered. */
  sent: number;
  /** Events that were given up, by reason. */
  dropped: Partial<Record<DropReason, number>>;
  /** Events that the service refused, by its code. */
  rejected: Record<string, number>;
  lastError?: string;
}

/** Why events were given up; `unreadable` counts records, since nobody knows what was in them. */
export type DropReason = 'too_many' | 'too_large' | 'unreadable';

export interface OutboxParts {
  /** Names what the tabs share: the lock and the signal. One per publishable key. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  newId: NewId;
  /** Default: Web Locks. */
  locks?: Locks;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  openTabSignal: OpenTabSignal;
  /** The store that survives the page; memory takes over while it fails. */
  store: DurableStore;
  /** Default: 20,000 events and 16 MB, some weeks of a busy game without network. */
  bounds?: Size;
}

/** The events of one task, which are stored together. */
interface Group {
  events: QueuedEvent[];
  stored: Promise<void>;
}

/** Creates the durable queue of events; opens its store at once, so that the first event does not wait. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clock, lifecycle, store } = parts;
  const name = `${parts.name}:outbox`;
  const memory = createMemoryStore();
  const recent = createRecentEvents(keepaliveBytes);
  const listeners = new Set<(rewards: RewardStatus[]) => void>();
  const signal = parts.openTabSignal<TabMessage>(name);
  const counts = createCounts();
  const { diagnostics } = counts;
  let loading: Promise<{ createDrain: typeof createDrain }> | undefined;
  let drain: Drain | undefined;
  let group: Group | undefined;
  /** Waits for its write. */
  const unwritten = new Set<QueuedEvent[]>();
  let isSlow = false;
  /** Whether the page is frozen or was left: it may never run again. */
  let away = false;
  let destroyed = false;

  const onError = (error: unknown): void => {
    diagnostics.lastError = String(error);
  };
  const isWaiting = (): boolean =>
    counts.shared.events + counts.own.events + unwritten.size > 0 || group !== undefined;
  /** Another tab may have sent what this one made. */
  const forgetArrived = (): void => {
    if (!isWaiting()) recent.clear();
  };
  /** Loads the code that sends, unless it is loaded already, and runs `work` on it; a failed load is retried by the next call. */
  const withDrain = async (work: (drain: Drain) => unknown): Promise<void> => {
    try {
      const code = await (loading ??= import('./drain.ts'));
      if (destroyed) return;
      drain ??= code.createDrain(drainParts);
      await work(drain);
    } catch (error) {
      loading = undefined;
      onError(error);
    }
  };
  const prefetch = (): void => void withDrain(() => undefined);
  const wake = (): void => void withDrain((loaded) => loaded.wake());
  const nudge = (): Promise<void> => withDrain((loaded) => loaded.nudge());
  const onTabMessage = (message: TabMessage): void => {
    const { events = 0, bytes = 0, rewards = [], pause } = message;
    grow(counts.shared, events, bytes);
    forgetArrived();
    if (rewards.length > 0) for (const listener of listeners) listener(rewards);
    if (pause) void withDrain((loaded) => loaded.pause(pause));
    if (events > 0) wake();
  };
  const broadcast = (message: TabMessage): void => {
    if (!destroyed) signal.send(message);
  };
  const onResize = (source: EventStore, events: number, bytes: number): void => {
    if (source === store) broadcast({ events, bytes });
    grow(source === store ? counts.shared : counts.own, events, bytes);
    forgetArrived();
    if (events > 0) wake();
  };

  const drainParts: DrainParts = {
    ...parts,
    name,
    mayLead: () => !away,
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
      // Someone may have deleted what was counted.
      const { events, bytes } = source === store ? counts.shared : counts.own;
      if (events > 0) onResize(source, -events, -bytes);
    },
    onPause: (pause) => broadcast({ pause }),
  };
  const storage = createStorage({
    store,
    memory,
    bounds: parts.bounds ?? { events: 20_000, bytes: 16_000_000 },
    counts,
    nowMs: clock.now,
    onResize,
    onError,
  });

  /** With their ids and times: what is sent meanwhile is not sent again once it is stored. */
  const sendPastStore = (events: QueuedEvent[]): void =>
    void withDrain((loaded) => loaded.sendPastStore(events, false));
  store.onSlow?.((slow) => {
    isSlow = slow;
    if (slow) sendPastStore(Array.from(unwritten).flat());
  });
  const append = async (events: QueuedEvent[]): Promise<void> => {
    unwritten.add(events);
    if (isSlow) sendPastStore(events);
    await storage.append(events);
    unwritten.delete(events);
    forgetArrived();
  };
  /** Begins the write in a microtask: with all that this task enqueues, and before it ends. */
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

  const begin = async (): Promise<void> => {
    await storage.open();
    // While this tab drains, its own count is right.
    if (!drain?.isRunning()) await storage.recount();
    if (isWaiting()) await nudge();
  };

  const onMoment = (moment: PageMoment): void => {
    away = moment === 'leaving' || moment === 'frozen';
    if (moment === 'visible' || moment === 'returned') return void begin();
    if (!isWaiting()) return;
    // At once: whatever is done later may never happen.
    drain?.sendPastStore(recent.list(), true);
    // The browser may suspend the page at any time from now on.
    drain?.giveUpLead();
    // A hidden tab that still runs goes on behind the others.
    wake();
  };

  const disposers = [
    lifecycle.onMoment(onMoment),
    parts.connectivity.onOnline(() => isWaiting() && void nudge()),
    signal.onMessage(onTabMessage),
  ];
  void begin();

  return {
    prefetch,
    enqueue(event, after) {
      const id = parts.newId();
      const occurredAt = new Date(clock.now()).toISOString();
      const full: AdEvent = { ...event, id, occurred_at: occurredAt };
      const queued = { id, json: toJson(full) };
      if (queued.json.length > smallBatch.bytes) {
        counts.drop('too_large', 1);
        return Promise.resolve();
      }
      recent.add(queued);
      prefetch();
      return after ? after.then(() => write(queued)) : write(queued);
    },
    async flush() {
      await group?.stored;
      await nudge();
      await drain?.finished();
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
      drain?.stop();
      listeners.clear();
      signal.close();
      // What was enqueued in this task is still written.
      void Promise.resolve(group?.stored).finally(() => store.close());
    },
  };
}
