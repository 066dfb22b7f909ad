import type { RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { browserLocks, type Locks } from '../platform/locks.ts';
import { createBackOff } from '../transport/back-off.ts';
import {
  type EventStore,
  isEventRecord,
  keepaliveBytes,
  type QueuedEvent,
  type RecentEvents,
  smallBatch,
  type StoredRecord,
} from './event-store.ts';
import { add, type Counts } from './counts.ts';
import { createLead } from './lead.ts';
import {
  type Batch,
  type Delivery,
  type Failure,
  largeBatch,
  nextBatch,
  sendEvents,
} from './send.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import type { Pause } from './outbox.ts';

export interface DrainParts {
  /** Names the lock that the tabs share. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  /** Default: Web Locks, which are part of this code so that a game starts without them. */
  locks?: Locks;
  /** Whether this tab may send for the others. */
  mayLead(): boolean;
  counts: Counts;
  recent: RecentEvents;
  /** Belongs to this tab alone. */
  memory: EventStore;
  /** Is shared by the tabs, and drained by the one that leads. */
  store: EventStore;
  onRewards(rewards: RewardStatus[]): void;
  /** Events left the store: delivered or set aside. */
  onRemoved(source: EventStore, batch: Batch): void;
  /** Nothing is left in this store. */
  onEmpty(source: EventStore): void;
  /** A store failed. It is retried with the next event, or when the player returns. */
  onError(error: unknown): void;
  /** Sending failed; the other tabs pause, too. */
  onPause(pause: Pause): void;
}

/** Empties the stores, one request at a time. */
export interface Drain {
  /** Starts sending, unless already sending or backing off. */
  wake(): void;
  /** Ends a back-off early, but not one that the service requested. */
  nudge(): void;
  isRunning(): boolean;
  /** Lets another tab lead; requests in flight are not interrupted. */
  giveUpLead(): void;
  /** Resolves when the stores are empty or sending has failed. */
  finished(): Promise<void>;
  /** Sends events immediately, bypassing the store; with `keepalive`, in a request that outlives the page. */
  sendPastStore(events: QueuedEvent[], keepalive: boolean): void;
  /** Sending failed in another tab. */
  pause(pause: Pause): void;
  stop(): void;
}

/** Records read at once: 250 block the main thread for a few milliseconds. */
const maxRecords = 250;
/** Events in the request after a failure: a lost answer makes few of them go twice. */
const cautiousEvents = 25;
const eventsIn = (records: StoredRecord[]): number =>
  records.reduce((sum, { value }) => sum + (isEventRecord(value) ? value.events.length : 1), 0);

/** Creates the {@link Drain} of a queue. */
export function createDrain(parts: DrainParts): Drain {
  const { counts, memory, store } = parts;
  const { diagnostics } = counts;
  const lead = createLead({ ...parts, locks: parts.locks ?? browserLocks() });
  /** Sent and settled, but not removed from the store yet. */
  const settled = new Set<string>();
  const inFlight = new Set<string>();
  let running: Promise<void> | undefined;
  let pastStore: Promise<unknown> | undefined;
  let again = false;
  let stopped = false;
  /** Whether the service set the time of the next retry. */
  let demanded = false;
  /** Events in the next request: doubles while all goes well. */
  let batchEvents = smallBatch.events;
  let maxEvents = largeBatch.events;
  const backOff = createBackOff(parts, () => wake());

  const failed = ({ retryAfterMs }: Failure): void => {
    if (stopped) return;
    batchEvents = cautiousEvents;
    demanded = retryAfterMs !== undefined;
    const ms = backOff.failed(retryAfterMs);
    parts.onPause({ ms, failures: backOff.failures(), demanded });
  };

  const send = async (events: QueuedEvent[], keepalive: boolean): Promise<Delivery> => {
    for (const { id } of events) inFlight.add(id);
    const dropped = counts.takeUnreportedDrops();
    const delivery = await sendEvents(parts, events, dropped, keepalive);
    for (const { id } of events) inFlight.delete(id);
    for (const id of delivery.settled) settled.add(id);
    parts.recent.remove(delivery.settled);
    diagnostics.sent += delivery.settled.length - delivery.rejections.length;
    for (const { code } of delivery.rejections) add(diagnostics.rejected, code, 1);
    if (delivery.rewards.length > 0) parts.onRewards(delivery.rewards);
    // An older service accepts only smaller requests, so stop sending large ones.
    if (delivery.halved) maxEvents = smallBatch.events;
    if (delivery.failure) {
      parts.onError(delivery.failure.reason);
      // Reported again, though the service may have it: these counts are for people, not for money.
      if (dropped) counts.requeueDrops(dropped);
      failed(delivery.failure);
    } else {
      backOff.succeeded();
      batchEvents = Math.min(maxEvents, batchEvents * 2);
    }
    return delivery;
  };

  /** Sends one batch and takes it out of the store; false when it has to be sent again. */
  const deliver = async (
    source: EventStore,
    batch: Batch,
    first: number,
    last: number,
  ): Promise<boolean> => {
    const unsent = batch.events.filter(({ id }) => !settled.has(id));
    const { rejections, failure } =
      unsent.length > 0
        ? await send(unsent, batch.bytes <= keepaliveBytes)
        : { rejections: [], failure: undefined };
    const rejected = rejections.map(({ event, code }) => ({ reason: code, value: event.json }));
    const aside = batch.unreadable.concat(rejected);
    if (aside.length > 0) await source.setAside(aside);
    if (failure) return false;
    await source.remove(first, last);
    for (const { id } of batch.events) settled.delete(id);
    parts.onRemoved(source, batch);
    return true;
  };

  /** Empties one store, as long as sending does not fail and `mayGoOn`. */
  const empty = async (source: EventStore, mayGoOn: () => boolean): Promise<void> => {
    /** Events in a record: 1 in a calm game, up to 64 in a burst. */
    let density = 8;
    /** Adds to `known` until there is enough for the next requests, or no more. */
    const read = async (after: number, known: StoredRecord[]): Promise<StoredRecord[]> => {
      const records = Array.from(known);
      for (;;) {
        const missing = Math.min(maxEvents, batchEvents * 2) - eventsIn(records);
        if (missing <= 0) return records;
        const limit = Math.min(maxRecords, Math.ceil(missing / density));
        const some = await source.read(records.at(-1)?.key ?? after, limit);
        records.push(...some);
        if (some.length < limit) return records;
      }
    };
    let records = await read(-1, []);
    for (;;) {
      // What is on its way past the store would be sent twice.
      await pastStore;
      if (stopped || backOff.waiting() || !mayGoOn()) return;
      const [first] = records;
      if (!first) return parts.onEmpty(source);
      const { bytes } = batchEvents > smallBatch.events ? largeBatch : smallBatch;
      const batch = nextBatch(records, { events: batchEvents, bytes });
      const last = records[batch.records - 1]?.key ?? first.key;
      const rest = records.slice(batch.records);
      density = Math.max(1, batch.events.length / batch.records);
      const [sent, next] = await Promise.all([
        deliver(source, batch, first.key, last),
        // The next records are read while these are on their way; should that fail, they are read later.
        read(last, rest).catch(() => rest),
      ]);
      if (!sent) return;
      records = next.length > 0 ? next : await read(-1, []);
    }
  };

  const run = async (): Promise<void> => {
    // A wait that ended while the store was still being read is over here, too.
    while (again && !stopped && !backOff.waiting()) {
      again = false;
      // When one store fails, what is in the other goes out all the same.
      await empty(memory, () => true).catch(parts.onError);
      if (!backOff.waiting()) await lead.run(() => empty(store, lead.isHeld)).catch(parts.onError);
    }
    running = undefined;
  };

  const wake = (): void => {
    again = true;
    if (!stopped && !backOff.waiting()) running ??= run();
  };

  return {
    wake,
    nudge() {
      if (!demanded) backOff.cancel();
      wake();
    },
    isRunning: () => running !== undefined,
    giveUpLead: lead.release,
    finished: async () => running,
    sendPastStore(events, keepalive) {
      const unsent = events.filter(({ id }) => !inFlight.has(id) && !settled.has(id));
      // The last chance of a page that is left is taken all the same, unless the service said when.
      const mustWait = backOff.waiting() && (demanded || !keepalive);
      if (stopped || mustWait || unsent.length === 0) return;
      pastStore = Promise.all([pastStore, send(unsent, keepalive)]);
    },
    pause(pause) {
      if (stopped) return;
      demanded = pause.demanded;
      backOff.pause(pause.ms, pause.failures);
    },
    stop() {
      stopped = true;
      backOff.cancel();
      lead.release();
    },
  };
}
