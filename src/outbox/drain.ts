import type { AdEvent } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { createBackOff } from '../transport/create-back-off.ts';
import { nextBatch, wireLimits, type Batch } from './batch.ts';
import type { EventStore, StoredRecord } from './event-store.ts';
import type { Delivery } from './send.ts';

export interface DrainParts {
  clock: Clock;
  random: () => number;
  /** Sends events; what became of them has been taken note of when it resolves. */
  send(events: AdEvent[], keepalive: boolean): Promise<Delivery>;
  /** The stores that this tab may empty now. */
  sources(): EventStore[];
  /** Events left the store: delivered, set aside or given up. */
  onRemoved(source: EventStore, batch: Batch, tooOld: boolean): void;
  /** Nothing is left in this store. */
  onEmpty(source: EventStore): void;
  /** A store failed. It is tried again with the next event, or the next look at the page. */
  onError(error: unknown): void;
}

/** Empties the stores, one request at a time. */
export interface Drain {
  /** There is something to send. Does nothing while it sends or waits. */
  wake(): void;
  /** Something speaks for trying now: ends a wait, but not one that the service asked for. */
  nudge(): void;
  /** Resolves when the stores are empty or sending has failed. */
  finished(): Promise<void>;
  /** Sends these at once, past the store, in a request that outlives the page. */
  sendLeaving(events: AdEvent[]): void;
  stop(): void;
}

/** Longest late window of a placement; after it the service takes no event any more. */
const longestAgeMs = 7 * 86_400_000;
/** Events read at once, two full requests: they block the main thread for about a millisecond. */
const chunk = 200;
/** Events a request while the last answer is missing: a lost answer then repeats few of them. */
const cautiousEvents = 25;
/** `keepalive` bodies of a page may have 64 KiB in flight together, other scripts included. */
export const keepaliveBytes = 15_000;

/** Makes the {@link Drain} of a queue. */
export function createDrain(parts: DrainParts): Drain {
  /** Sent and settled, but not removed from the store yet. */
  const settled = new Set<string>();
  const inFlight = new Set<string>();
  let running: Promise<void> | undefined;
  let leaving: Promise<unknown> | undefined;
  let again = false;
  let stopped = false;
  /** Whether the service itself named the time of the next try. */
  let demanded = false;
  const backOff = createBackOff(parts, () => wake());

  const send = async (events: AdEvent[], keepalive: boolean): Promise<Delivery> => {
    for (const { id } of events) inFlight.add(id);
    const delivery = await parts.send(events, keepalive);
    for (const { id } of events) inFlight.delete(id);
    for (const id of delivery.settled) settled.add(id);
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
    const rejected = rejections.map(({ event, code }) => ({ reason: code, value: event }));
    const aside = batch.unreadable.concat(rejected);
    if (aside.length > 0) await source.setAside(aside);
    // It had its try, since a wrong clock must not cost an event that the service would have taken.
    const tooOld = failure !== undefined && parts.clock.now() - batch.at > longestAgeMs;
    if (failure) {
      demanded = failure.retryAfterMs !== undefined;
      if (!stopped) backOff.failed(failure.retryAfterMs);
      if (!tooOld) return false;
    } else backOff.succeeded();
    await source.remove(first, last);
    for (const { id } of batch.events) settled.delete(id);
    parts.onRemoved(source, batch, tooOld);
    return !failure;
  };

  /** Empties one store, as long as sending does not fail. */
  const empty = async (source: EventStore): Promise<void> => {
    let records: StoredRecord[] = [];
    /** Events in a record: 1 in a calm game, up to 64 in a burst. */
    let density = 8;
    const read = (after: number): Promise<StoredRecord[]> =>
      source.read(after, Math.ceil(chunk / density));
    for (;;) {
      if (records.length === 0) records = await read(-1);
      // What is on its way past the store would be sent twice.
      await leaving;
      if (stopped || !parts.sources().includes(source)) return;
      const [first] = records;
      if (!first) return parts.onEmpty(source);
      const batch = nextBatch(records, backOff.failures() > 0 ? cautiousEvents : wireLimits.events);
      const last = records[batch.records - 1]?.key ?? first.key;
      const rest = records.slice(batch.records);
      density = Math.max(1, batch.events.length / batch.records);
      const [sent, next] = await Promise.all([
        deliver(source, batch, first.key, last),
        // The next records are read while these are on their way; should that fail, they are read later.
        rest.length > 0 ? rest : read(last).catch(() => []),
      ]);
      if (!sent) return;
      records = next;
    }
  };

  const run = async (): Promise<void> => {
    // A wait that ended while the store was still being read is over here, too.
    while (again && !stopped && !backOff.waiting()) {
      again = false;
      // When one store fails, what is in the other goes out all the same.
      for (const source of parts.sources())
        if (!backOff.waiting()) await empty(source).catch(parts.onError);
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
    finished: async () => running,
    sendLeaving(events) {
      const unsent = events.filter(({ id }) => !inFlight.has(id) && !settled.has(id));
      if (stopped || (backOff.waiting() && demanded) || unsent.length === 0) return;
      leaving = send(unsent, true);
    },
    stop() {
      stopped = true;
      backOff.cancel();
    },
  };
}
