import type { AdEvent, RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connectivity } from '../platform/connectivity.ts';
import type { NewId } from '../platform/ids.ts';
import type { Locks } from '../platform/locks.ts';
import type { PageLifecycle, PageMoment } from '../platform/page-lifecycle.ts';
import type { OpenTabSignal } from '../platform/tab-signal.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { groupEvents, wireLimits } from './batch.ts';
import { createDrain, keepaliveBytes } from './drain.ts';
import type { EventStore, StoredRecord } from './event-store.ts';
import { createMemoryStore } from './memory-store.ts';
import type { DropReason, Outbox, OutboxDiagnostics } from './outbox.ts';
import { createRecentEvents } from './recent-events.ts';
import { planSacrifice, type Bounds } from './sacrifice.ts';
import type { Delivery } from './send.ts';

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
  /** The store that survives the page; memory takes over when it fails. */
  store: EventStore & { open(): Promise<void> };
  /** Default: 20,000 events and 16 MB, some weeks of a busy game without network. */
  bounds?: Bounds;
}

/** A guess for what an earlier page stored, until it is counted. */
const usualEventBytes = 600;

/** Makes the durable queue of events; opens its store at once, so that the first event does not wait. */
export function createOutbox(parts: OutboxParts): Outbox {
  const { clock, lifecycle, store } = parts;
  const bounds = parts.bounds ?? { events: 20_000, bytes: 16_000_000 };
  const memory = createMemoryStore();
  const recent = createRecentEvents(keepaliveBytes);
  const listeners = new Set<(rewards: RewardStatus[]) => void>();
  const signal = parts.openTabSignal(`${parts.name}:outbox`);
  const diagnostics: OutboxDiagnostics = {
    storage: 'indexeddb',
    stored: 0,
    sent: 0,
    dropped: {},
    rejected: {},
  };
  let storedBytes = 0;
  let group: { events: string[]; stored: Promise<void> } | undefined;
  let leading = false;
  let ready = false;
  let away = false;
  let stopLeading: (() => void) | undefined;
  let destroyed = false;

  const drop = (reason: DropReason, count = 1): void => {
    diagnostics.dropped[reason] = (diagnostics.dropped[reason] ?? 0) + count;
  };
  const note = (error: unknown): void => {
    diagnostics.lastError = String(error);
  };
  const tally = (events: number, bytes: number): void => {
    diagnostics.stored = Math.max(0, diagnostics.stored + events);
    storedBytes = Math.max(0, storedBytes + bytes);
  };

  const onDelivery = ({ settled, rejections, rewards, failure }: Delivery): void => {
    recent.remove(settled);
    diagnostics.sent += settled.length - rejections.length;
    for (const { code, by } of rejections) {
      diagnostics.rejected[code] = (diagnostics.rejected[code] ?? 0) + 1;
      if (by === 'body') drop('refused');
    }
    if (failure) note(failure.reason);
    if (rewards.length > 0) for (const listener of listeners) listener(rewards);
  };

  const drain = createDrain({
    client: parts.client,
    clock,
    random: parts.random,
    // Memory belongs to this tab alone, so it is emptied without the lock.
    sources: () => (leading ? [store, memory] : [memory]),
    onDelivery,
    onRemoved(batch, why) {
      if (why === 'too_old') drop('too_old', batch.events.length);
      if (batch.unreadable.length > 0) drop('refused', batch.unreadable.length);
      tally(-batch.events.length, -batch.bytes);
    },
    onError: note,
  });

  /** Gives up what is worth least until `target` holds, and learns what is really stored. */
  const sacrifice = async (from: EventStore, target: Bounds): Promise<void> => {
    const records: StoredRecord[] = [];
    for (let after = -1; ; after = records.at(-1)?.key ?? after) {
      const some = await from.read(after, 250);
      if (some.length === 0) break;
      records.push(...some);
    }
    const plan = planSacrifice(records, target);
    await from.rewrite(plan.changes);
    if (plan.dropped > 0) drop('too_many', plan.dropped);
    diagnostics.stored = plan.left.events;
    storedBytes = plan.left.bytes;
  };

  const append = async (events: string[]): Promise<void> => {
    const at = clock.now();
    const records = groupEvents(events).map((some) => ({ v: 1 as const, at, events: some }));
    let used: EventStore = store;
    try {
      await store.append(records).catch(async (error: unknown) => {
        note(error);
        if ((error as Error | null)?.name !== 'QuotaExceededError') throw error;
        await sacrifice(store, { events: diagnostics.stored, bytes: storedBytes * 0.8 });
        await store.append(records);
      });
    } catch (error) {
      note(error);
      diagnostics.storage = 'memory';
      used = memory;
      await memory.append(records);
    }
    tally(
      events.length,
      events.reduce((sum, json) => sum + json.length, 0),
    );
    if (diagnostics.stored > bounds.events || storedBytes > bounds.bytes)
      await sacrifice(used, bounds).catch(note);
    if (leading || used === memory) drain.wake();
    else signal.send();
  };

  /** Begins the write in a microtask: with all that this task enqueues, and before it ends. */
  const openGroup = (): { events: string[]; stored: Promise<void> } => {
    const events: string[] = [];
    const stored = Promise.resolve().then(() => {
      group = undefined;
      return append(events);
    });
    return { events, stored };
  };

  const lead = (): void => {
    if (!ready || away || destroyed || stopLeading) return;
    stopLeading = parts.locks.acquire(`${parts.name}:outbox`, () => {
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
      const records = ready ? 0 : await store.count();
      ready = true;
      tally(records, records * usualEventBytes);
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
    signal.onSignal(() => drain.wake()),
  ];
  void prepare();

  return {
    enqueue(event) {
      const now = new Date(clock.now()).toISOString();
      const full: AdEvent = { ...event, id: parts.newId(), occurred_at: now };
      const json = JSON.stringify(full);
      if (destroyed || json.length > wireLimits.bytes) {
        drop(destroyed ? 'storage_failed' : 'too_large');
        return Promise.resolve();
      }
      recent.add(full, json.length);
      group ??= openGroup();
      group.events.push(json);
      return group.stored;
    },
    async flush() {
      await group?.stored;
      if (leading || diagnostics.storage === 'memory') drain.nudge();
      else signal.send();
      await drain.finished();
    },
    onRewards(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    diagnostics: () => structuredClone(diagnostics),
    destroy() {
      if (destroyed) return;
      destroyed = true;
      for (const end of endings) end();
      followOthers();
      drain.stop();
      listeners.clear();
      signal.close();
      // What was enqueued in this task is still written.
      void (group?.stored ?? Promise.resolve()).finally(() => store.close());
    },
  };
}
