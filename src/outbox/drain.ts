import type { RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { browserLocks, createLeaderElection, type Locks } from '../platform/locks.ts';
import { createBackOff } from '../transport/back-off.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import {
  type EventStore,
  exceeds,
  isEventRecord,
  keepaliveBytes,
  measureLength,
  type QueuedEvent,
  type RecentEvents,
  type SetAside,
  type Size,
  smallBatch,
  type StoredRecord,
  incrementCount,
} from './event-store.ts';
import { type Delivery, sendEvents } from './send.ts';
import type { Counts } from './storage.ts';

/** A back-off after a failure. No tab sends events until it has ended. */
export interface Pause {
  ms: number;
  /** Number of consecutive failures. It determines the next delay in every tab. */
  failures: number;
  /** Whether the service requested the back-off with `Retry-After`. */
  demanded: boolean;
}

export interface DrainDeps {
  /** Name of the lock that all tabs share. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  /** Default: Web Locks. */
  locks?: Locks;
  /** Whether this tab may send other tabs' events. */
  mayLead(): boolean;
  counts: Counts;
  recent: RecentEvents;
  /** This tab's own store. */
  memory: EventStore;
  /** The store that the tabs share. Only the leader drains it. */
  store: EventStore;
  onRewards(rewards: RewardStatus[]): void;
  /** Called after a batch has been sent or set aside, and then removed from its store. */
  onRemoved(source: EventStore, batch: Batch): void;
  /** Called when a store is empty. */
  onEmpty(source: EventStore): void;
  /** Called when a store fails. The store is retried with the next event, or when the player returns. */
  onError(error: unknown): void;
  /** Called when sending fails, so that the other tabs back off too. */
  onPause(pause: Pause): void;
}

/** Sends the stores' contents, one request at a time. */
export interface Drain {
  /** Starts sending. A no-op while sending or backing off. */
  wake(): void;
  /** Starts sending, and ends a back-off early unless the service requested it. */
  nudge(): void;
  isRunning(): boolean;
  /** Resigns as leader, so that another tab can take over. Does not interrupt requests in flight. */
  resign(): void;
  /** Resolves when the stores are empty or sending has failed. */
  finished(): Promise<void>;
  /** Sends events immediately, without storing them first. With `keepalive`, the request outlives the page. */
  sendDirectly(events: QueuedEvent[], keepalive: boolean): void;
  /** Backs off, because sending failed in another tab. */
  pause(pause: Pause): void;
  stop(): void;
}

/** Records that are sent in one request and removed together. */
export interface Batch {
  /** Number of records. */
  records: number;
  events: QueuedEvent[];
  bytes: number;
  /** Records that this release cannot read. */
  unreadable: SetAside[];
}

/** Maximum batch size that this release of the service accepts: 500 events and 256 KiB. */
const largeBatch: Size = { events: 500, bytes: 250_000 };
/** Maximum number of records per read. Reading 250 records blocks the main thread for a few milliseconds. */
const maxRecords = 250;
/** Number of events in the first request after a failure. Small, so that a lost response causes few duplicates. */
const eventsAfterFailure = 25;

/** Creates the {@link Drain} for an outbox. */
export function createDrain(deps: DrainDeps): Drain {
  const { counts, memory, store } = deps;
  const { diagnostics } = counts;
  const election = createLeaderElection({ ...deps, locks: deps.locks ?? browserLocks() });
  /** Ids of settled events that have not been removed from the store yet. */
  const settledIds = new Set<string>();
  const inFlightIds = new Set<string>();
  let running: Promise<void> | undefined;
  let directSends: Promise<unknown> | undefined;
  let runAgain = false;
  let stopped = false;
  /** Whether the service set the time for the next retry. */
  let demanded = false;
  /** Number of events in the next request. Doubles after each success. */
  let batchEvents = smallBatch.events;
  let maxEvents = largeBatch.events;
  const backOff = createBackOff(deps, () => wake());

  /** Sends events and applies the response. Does not change the store. */
  const deliver = async (events: QueuedEvent[], keepalive: boolean): Promise<Delivery> => {
    for (const { id } of events) inFlightIds.add(id);
    const dropped = counts.unreportedDrops;
    counts.unreportedDrops = {};
    const delivery = await sendEvents(deps, events, dropped, keepalive);
    for (const { id } of events) inFlightIds.delete(id);
    for (const id of delivery.settled) settledIds.add(id);
    deps.recent.remove(delivery.settled);
    diagnostics.sent += delivery.settled.length - delivery.rejections.length;
    for (const { code } of delivery.rejections) incrementCount(diagnostics.rejected, code, 1);
    if (delivery.rewards.length > 0) deps.onRewards(delivery.rewards);
    // An older service accepts only smaller requests.
    if (delivery.split) maxEvents = smallBatch.events;
    if (delivery.failure) {
      const { retryAfterMs } = delivery.failure;
      deps.onError(delivery.failure.reason);
      // A drop may be reported twice, which is acceptable because these counts are only informational.
      for (const [reason, count] of Object.entries(dropped))
        incrementCount(counts.unreportedDrops, reason, count);
      if (!stopped) {
        batchEvents = eventsAfterFailure;
        demanded = retryAfterMs !== undefined;
        const ms = backOff.fail(retryAfterMs);
        deps.onPause({ ms, failures: backOff.failures(), demanded });
      }
    } else {
      backOff.reset();
      batchEvents = Math.min(maxEvents, batchEvents * 2);
    }
    return delivery;
  };

  /** Delivers a batch and removes it from its store. Resolves to false if the delivery failed. */
  const deliverBatch = async (
    source: EventStore,
    batch: Batch,
    first: number,
    last: number,
  ): Promise<boolean> => {
    const unsent = batch.events.filter(({ id }) => !settledIds.has(id));
    const delivery =
      unsent.length > 0 ? await deliver(unsent, batch.bytes <= keepaliveBytes) : undefined;
    const rejectedEntries = delivery?.rejections.map(({ event, code }) => ({
      reason: code,
      value: event.json,
    }));
    const entriesToSetAside = batch.unreadable.concat(rejectedEntries ?? []);
    if (entriesToSetAside.length > 0) await source.setAside(entriesToSetAside);
    if (delivery?.failure) return false;
    await source.remove(first, last);
    for (const { id } of batch.events) settledIds.delete(id);
    deps.onRemoved(source, batch);
    return true;
  };

  /** Delivers one store's contents. Stops when the store is empty, a delivery fails or `mayContinue` returns false. */
  const drainStore = async (source: EventStore, mayContinue: () => boolean): Promise<void> => {
    /** Average number of events per record: 1 at low load, up to 64 in a burst. */
    let eventsPerRecord = 8;
    /** Adds records to `buffered` until there are enough for the next requests. */
    const read = async (afterKey: number, buffered: StoredRecord[]): Promise<StoredRecord[]> => {
      const records = Array.from(buffered);
      for (;;) {
        const missingEvents = Math.min(maxEvents, batchEvents * 2) - countEvents(records);
        if (missingEvents <= 0) return records;
        const limit = Math.min(maxRecords, Math.ceil(missingEvents / eventsPerRecord));
        const page = await source.read(records.at(-1)?.key ?? afterKey, limit);
        records.push(...page);
        if (page.length < limit) return records;
      }
    };
    let records = await read(-1, []);
    for (;;) {
      // Events that are being sent directly would otherwise be sent twice.
      await directSends;
      if (stopped || backOff.isWaiting() || !mayContinue()) return;
      const [first] = records;
      if (!first) return deps.onEmpty(source);
      const { bytes } = batchEvents > smallBatch.events ? largeBatch : smallBatch;
      const batch = pickBatch(records, { events: batchEvents, bytes });
      const last = records[batch.records - 1]?.key ?? first.key;
      const remaining = records.slice(batch.records);
      eventsPerRecord = Math.max(1, batch.events.length / batch.records);
      const [delivered, next] = await Promise.all([
        deliverBatch(source, batch, first.key, last),
        // Reads ahead while the request is in flight. If the read fails, it is repeated later.
        read(last, remaining).catch(() => remaining),
      ]);
      if (!delivered) return;
      records = next.length > 0 ? next : await read(-1, []);
    }
  };

  const run = async (): Promise<void> => {
    // A back-off may have ended while a store was being read.
    while (runAgain && !stopped && !backOff.isWaiting()) {
      runAgain = false;
      // If one store fails, the other must still be drained.
      await drainStore(memory, () => true).catch(deps.onError);
      if (!backOff.isWaiting())
        await election.lead(() => drainStore(store, election.isLeader)).catch(deps.onError);
    }
    running = undefined;
  };

  const wake = (): void => {
    runAgain = true;
    if (!stopped && !backOff.isWaiting()) running ??= run();
  };

  return {
    wake,
    nudge() {
      if (!demanded) backOff.cancel();
      wake();
    },
    isRunning: () => running !== undefined,
    resign: election.resign,
    finished: async () => running,
    sendDirectly(events, keepalive) {
      const unsent = events.filter(({ id }) => !inFlightIds.has(id) && !settledIds.has(id));
      // A page that is being unloaded gets no later chance to send, so it honors only back-offs that the service
      // requested.
      const mustWait = backOff.isWaiting() && (demanded || !keepalive);
      if (stopped || mustWait || unsent.length === 0) return;
      directSends = Promise.all([directSends, deliver(unsent, keepalive)]);
    },
    pause(pause) {
      if (stopped) return;
      demanded = pause.demanded;
      backOff.pause(pause.ms, pause.failures);
    },
    stop() {
      stopped = true;
      backOff.cancel();
      election.resign();
    },
  };
}

const countEvents = (records: StoredRecord[]): number =>
  records.reduce((sum, { value }) => sum + (isEventRecord(value) ? value.events.length : 1), 0);

/**
 * Picks the oldest records that fit into one request. Picks at least one record, because every record fits on its own.
 */
function pickBatch(records: StoredRecord[], limits: Size): Batch {
  const batch: Batch = { records: 0, events: [], bytes: 0, unreadable: [] };
  for (const { value } of records) {
    const events = parseRecord(value);
    if (events) {
      const bytes = batch.bytes + measureLength(events.map(({ json }) => json));
      const size = { events: batch.events.length + events.length, bytes };
      if (batch.events.length > 0 && exceeds(size, limits)) break;
      batch.events.push(...events);
      batch.bytes = bytes;
    } else batch.unreadable.push({ reason: 'unreadable', value });
    batch.records += 1;
  }
  return batch;
}

/** Returns a record's events, or undefined if the record is corrupt or was written by an unknown release. */
function parseRecord(value: unknown): QueuedEvent[] | undefined {
  if (!isEventRecord(value)) return undefined;
  try {
    const events = value.events.map((json) => ({ id: (JSON.parse(json) as QueuedEvent).id, json }));
    if (events.every(({ id }) => id)) return events;
  } catch {
    // The caller sets the record aside.
  }
  return undefined;
}
