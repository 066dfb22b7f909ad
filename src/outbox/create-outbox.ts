import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/connectivity.ts';
import type { NewId } from '../platform/ids.ts';
import { toJson } from '../platform/json.ts';
import type { Locks } from '../platform/locks.ts';
import type { PageLifecycle, PageMoment } from '../platform/page-lifecycle.ts';
import type { OpenTabSignal } from '../platform/tab-signal.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { keepaliveBytes, smallBatch, type QueuedEvent } from './batch.ts';
import { createCounts, grow, type Size } from './counts.ts';
import type { DurableStore, EventStore } from './event-store.ts';
import { lazyDrain } from './lazy-drain.ts';
import { createMemoryStore } from './memory-store.ts';
import type { Outbox } from './outbox.ts';
import { createRecentEvents } from './recent-events.ts';
import { createStorage } from './storage.ts';
import type { TabMessage } from './tab-message.ts';

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

/** Makes the durable queue of events; opens its store at once, so that the first event does not wait. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clock, lifecycle, store } = parts;
  const name = `${parts.name}:outbox`;
  const memory = createMemoryStore();
  const recent = createRecentEvents(keepaliveBytes);
  const listeners = new Set<(rewards: RewardStatus[]) => void>();
  const signal = parts.openTabSignal<TabMessage>(name);
  const counts = createCounts();
  const { diagnostics } = counts;
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
  const wake = (): void => void drain.use((code) => code.wake());
  const nudge = (): Promise<void> => drain.use((code) => code.nudge());
  const onTabMessage = (message: Partial<TabMessage>): void => {
    const { events = 0, bytes = 0, rewards = [], pause } = message;
    grow(counts.shared, events, bytes);
    forgetArrived();
    if (rewards.length > 0) for (const listener of listeners) listener(rewards);
    if (pause) void drain.use((code) => code.pause(pause));
    if (events > 0) wake();
  };
  const broadcast = (message: TabMessage): void => {
    if (!destroyed) signal.send(message);
  };
  const onResize = (source: EventStore, events: number, bytes: number): void => {
    if (source === store) broadcast({ events, bytes, rewards: [] });
    grow(source === store ? counts.shared : counts.own, events, bytes);
    forgetArrived();
    if (events > 0) wake();
  };

  const drain = lazyDrain({
    ...parts,
    name,
    mayLead: () => !away,
    counts,
    recent,
    memory,
    onError,
    onRewards(rewards) {
      const message = { events: 0, bytes: 0, rewards };
      broadcast(message);
      onTabMessage(message);
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
    onPause: (pause) => broadcast({ events: 0, bytes: 0, rewards: [], pause }),
  });
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
    void drain.use((code) => code.sendPastStore(events, false));
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
    if (!drain.current()?.isRunning()) await storage.recount();
    if (isWaiting()) await nudge();
  };

  const onMoment = (moment: PageMoment): void => {
    away = moment === 'leaving' || moment === 'frozen';
    if (moment === 'visible' || moment === 'returned') return void begin();
    if (!isWaiting()) return;
    // At once: whatever is done later may never happen.
    drain.current()?.sendPastStore(recent.list(), true);
    // The browser may suspend the page at any time from now on.
    drain.current()?.giveUpLead();
    // A hidden tab that still runs goes on behind the others.
    wake();
  };

  const endings = [
    lifecycle.onMoment(onMoment),
    parts.connectivity.onOnline(() => isWaiting() && void nudge()),
    signal.onMessage(onTabMessage),
  ];
  void begin();

  return {
    prefetch: drain.prefetch,
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
      drain.prefetch();
      return after ? after.then(() => write(queued)) : write(queued);
    },
    async flush() {
      await group?.stored;
      await nudge();
      await drain.current()?.finished();
    },
    onRewards(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    diagnostics: counts.report,
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const end of endings) end();
      drain.stop();
      listeners.clear();
      signal.close();
      // What was enqueued in this task is still written.
      void Promise.resolve(group?.stored).finally(() => store.close());
    },
  };
}
