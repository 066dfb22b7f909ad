import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/connectivity.ts';
import type { NewId } from '../platform/ids.ts';
import type { Locks } from '../platform/locks.ts';
import type { PageLifecycle, PageMoment } from '../platform/page-lifecycle.ts';
import type { OpenTabSignal } from '../platform/tab-signal.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { groupEvents, lengthOf, wireLimits } from './batch.ts';
import { createDrain, keepaliveBytes } from './drain.ts';
import { add, createCounts, grow, type Size } from './counts.ts';
import type { EventRecord, EventStore } from './event-store.ts';
import { createMemoryStore } from './memory-store.ts';
import type { Outbox } from './outbox.ts';
import { createRecentEvents } from './recent-events.ts';
import { exceeds, sacrifice, type Bounds } from './sacrifice.ts';
import { sendEvents, type Delivery } from './send.ts';
import type { TabNews } from './tab-news.ts';

export interface OutboxParts {
  /** Names what the tabs share: the lock and the signal. One per publishable key. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  newId: NewId;
  locks: Locks;
  connectivity: Connectivity;
  lifecycle: PageLifecycle;
  openTabSignal: OpenTabSignal;
  /** The store that survives the page; memory takes over while it fails. */
  store: EventStore & { open(): Promise<void> };
  /** Default: 20,000 events and 16 MB, some weeks of a busy game without network. */
  bounds?: Bounds;
}

/** The events of one task, which are stored together. */
interface Group {
  events: string[];
  stored: Promise<void>;
}

/** Makes the durable queue of events; opens its store at once, so that the first event does not wait. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clock, lifecycle, store } = parts;
  const bounds = parts.bounds ?? { events: 20_000, bytes: 16_000_000 };
  const memory = createMemoryStore();
  const recent = createRecentEvents(keepaliveBytes);
  const listeners = new Set<(rewards: RewardStatus[]) => void>();
  const signal = parts.openTabSignal<TabNews>(`${parts.name}:outbox`);
  const counts = createCounts();
  const { diagnostics } = counts;
  let group: Group | undefined;
  /** Whether the quota stayed exceeded after a sacrifice. */
  let hopeless = false;
  let leading = false;
  let away = false;
  let stopLeading: (() => void) | undefined;
  let destroyed = false;

  const sizeOf = (source: EventStore): Size => (source === store ? counts.shared : counts.own);
  const note = (error: unknown): void => {
    diagnostics.lastError = String(error);
  };
  const heard = ({ events = 0, bytes = 0, rewards = [] }: Partial<TabNews>): void => {
    grow(counts.shared, events, bytes);
    if (rewards.length > 0) for (const listener of listeners) listener(rewards);
    if (events > 0) drain.wake();
  };
  const tell = (news: TabNews): void => {
    if (!destroyed) signal.send(news);
    heard(news);
  };
  /** A store grew or shrank. */
  const tally = (source: EventStore, events: number, bytes: number): void => {
    if (source === store) tell({ events, bytes, rewards: [] });
    else grow(counts.own, events, bytes);
  };

  const send = async (events: AdEvent[], keepalive: boolean): Promise<Delivery> => {
    const dropped = counts.takeUntold();
    const delivery = await sendEvents(parts, events, dropped, keepalive);
    const { settled, rejections, rewards, failure } = delivery;
    recent.remove(settled);
    diagnostics.sent += settled.length - rejections.length;
    for (const { code } of rejections) add(diagnostics.rejected, code, 1);
    if (failure) {
      note(failure.reason);
      // Told again, though the service may have heard it: these counts are for people, not for money.
      if (dropped) counts.tellAgain(dropped);
    }
    if (rewards.length > 0) tell({ events: 0, bytes: 0, rewards });
    return delivery;
  };

  const drain = createDrain({
    ...parts,
    send,
    // Memory belongs to this tab alone, so it is emptied without the lock.
    sources: () => (leading ? [store, memory] : [memory]),
    onRemoved(source, batch, tooOld) {
      if (tooOld) counts.drop('too_old', batch.events.length);
      counts.drop('unreadable', batch.unreadable.length);
      tally(source, -batch.events.length, -batch.bytes);
    },
    onEmpty(source) {
      // Someone may have deleted what was counted.
      const { events, bytes } = sizeOf(source);
      if (events > 0) tally(source, -events, -bytes);
    },
    onError(error) {
      note(error);
      // Another tab may have a connection that works: a newer release, after an upgrade.
      followOthers();
    },
  });

  const takeStock = (source: EventStore, target: Bounds): Promise<void> =>
    sacrifice(source, target, {
      counted: (size) => Object.assign(sizeOf(source), size),
      gone(events) {
        counts.drop('too_many', events.length);
        tally(source, -events.length, -lengthOf(events));
      },
    });

  /** Stores the records for good if that is possible at all; says where they are. */
  const keep = async (records: EventRecord[]): Promise<EventStore> => {
    try {
      await store.append(records).catch(async (error: unknown) => {
        if (hopeless || (error as Error | null)?.name !== 'QuotaExceededError') throw error;
        note(error);
        // Where that makes no room, the next events must not cost more of the stored ones.
        hopeless = true;
        await takeStock(store, { events: bounds.events, bytes: counts.shared.bytes * 0.8 }).catch(
          note,
        );
        await store.append(records);
      });
      hopeless = false;
      diagnostics.storage = 'indexeddb';
      lead();
      return store;
    } catch (error) {
      note(error);
      diagnostics.storage = 'memory';
      await memory.append(records);
      return memory;
    }
  };
  const append = async (events: string[]): Promise<void> => {
    const at = clock.now();
    const source = await keep(groupEvents(events).map((some) => ({ v: 1, at, events: some })));
    tally(source, events.length, lengthOf(events));
    if (exceeds(sizeOf(source), bounds)) await takeStock(source, bounds).catch(note);
    if (source === memory) drain.wake();
  };

  /** Begins the write in a microtask: with all that this task enqueues, and before it ends. */
  const openGroup = (events: string[] = []): Group => ({
    events,
    stored: Promise.resolve().then(() => {
      group = undefined;
      return append(events);
    }),
  });

  const lead = (): void => {
    if (away || destroyed) return;
    stopLeading ??= parts.locks.acquire(`${parts.name}:outbox`, () => {
      leading = true;
      drain.wake();
    });
  };
  const followOthers = (): void => {
    stopLeading?.();
    stopLeading = undefined;
    leading = false;
  };
  const prepare = async (): Promise<void> => {
    try {
      await store.open();
      // The leader's own count is right.
      if (!leading) await takeStock(store, bounds);
      lead();
    } catch (error) {
      note(error);
      diagnostics.storage = 'memory';
    }
  };

  const onMoment = (moment: PageMoment): void => {
    if (moment === 'visible' || moment === 'returned') {
      away = false;
      void prepare();
      drain.nudge();
      return;
    }
    if (leading || diagnostics.storage === 'memory') drain.sendLeaving(recent.list());
    // A page that stands still must not keep the events from the others.
    if (moment === 'hidden') return;
    away = true;
    followOthers();
  };

  const endings = [
    lifecycle.onMoment(onMoment),
    parts.connectivity.onOnline(() => drain.nudge()),
    signal.onMessage(heard),
  ];
  void prepare();

  return {
    enqueue(event) {
      const now = new Date(clock.now()).toISOString();
      const full: AdEvent = { ...event, id: parts.newId(), occurred_at: now };
      const json = JSON.stringify(full);
      if (json.length > wireLimits.bytes) {
        counts.drop('too_large', 1);
        return Promise.resolve();
      }
      recent.add(full, json.length);
      group ??= openGroup();
      group.events.push(json);
      return group.stored;
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
      for (const end of endings) end();
      followOthers();
      drain.stop();
      listeners.clear();
      signal.close();
      // What was enqueued in this task is still written.
      void Promise.resolve(group?.stored).finally(() => store.close());
    },
  };
}
