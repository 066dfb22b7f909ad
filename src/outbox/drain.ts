import type { AdEvent } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { backOffMs } from '../transport/back-off.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import { nextBatch, wireLimits, type Batch } from './batch.ts';
import type { EventStore } from './event-store.ts';
import { sendEvents, type Delivery } from './send.ts';

export interface DrainParts {
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  /** The stores that this tab may empty now. */
  sources(): EventStore[];
  onDelivery(delivery: Delivery): void;
  /** Events left the store: delivered, set aside or given up. */
  onRemoved(batch: Batch, why: 'settled' | 'too_old'): void;
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
/** Records read at once: 250 block the main thread for about a millisecond. */
const chunk = 250;
/** Events a request while the last answer is missing: a lost answer then repeats few of them. */
const cautiousEvents = 25;
/** `keepalive` bodies of a page may have 64 KiB in flight together, other scripts included. */
export const keepaliveBytes = 15_000;

/** Makes the {@link Drain} of a queue. */
export function createDrain(parts: DrainParts): Drain {
  const { clock } = parts;
  /** Sent and settled, but not removed from the store yet. */
  const settled = new Set<string>();
  const inFlight = new Set<string>();
  let running: Promise<void> | undefined;
  let leaving: Promise<void> = Promise.resolve();
  let again = false;
  let stopped = false;
  let failures = 0;
  let wait: { cancel: () => void; demanded: boolean } | undefined;

  const send = async (events: AdEvent[], keepalive: boolean): Promise<Delivery> => {
    for (const { id } of events) inFlight.add(id);
    const delivery = await sendEvents(parts.client, clock, events, keepalive);
    for (const { id } of events) inFlight.delete(id);
    for (const id of delivery.settled) settled.add(id);
    parts.onDelivery(delivery);
    return delivery;
  };

  const backOff = (retryAfterMs?: number): void => {
    failures += 1;
    wait?.cancel();
    const delayMs = backOffMs(failures, parts.random, retryAfterMs);
    wait = { demanded: retryAfterMs !== undefined, cancel: clock.after(delayMs, endWait) };
  };
  const endWait = (): void => {
    wait?.cancel();
    wait = undefined;
    wake();
  };

  /** Sends one batch and takes it out of the store; false when it has to be sent again. */
  const deliver = async (source: EventStore, batch: Batch): Promise<boolean> => {
    const unsent = batch.events.filter(({ id }) => !settled.has(id));
    const delivery: Delivery =
      unsent.length === 0
        ? { settled: [], rejections: [], rewards: [] }
        : await send(unsent, batch.bytes <= keepaliveBytes);
    const aside = [
      ...batch.unreadable,
      ...delivery.rejections.map(({ event, code }) => ({ reason: code, value: event })),
    ];
    if (aside.length > 0) await source.setAside(aside);
    const { failure } = delivery;
    if (failure) backOff(failure.retryAfterMs);
    // It had its try, since a wrong clock must not cost an event that the service would have taken.
    const tooOld = failure !== undefined && clock.now() - batch.at > longestAgeMs;
    if (failure && !tooOld) return false;
    if (!failure) failures = 0;
    await source.remove(batch.first, batch.last);
    for (const { id } of batch.events) settled.delete(id);
    parts.onRemoved(batch, tooOld ? 'too_old' : 'settled');
    return !tooOld;
  };

  /** Empties one store; false when sending has failed. */
  const empty = async (source: EventStore): Promise<boolean> => {
    let records = await source.read(-1, chunk);
    while (records.length > 0) {
      // What is on its way past the store would be sent twice.
      await leaving;
      if (stopped || !parts.sources().includes(source)) return true;
      const batch = nextBatch(records, failures > 0 ? cautiousEvents : wireLimits.events);
      if (batch === undefined) return true;
      if (!(await deliver(source, batch))) return false;
      records = records.filter(({ key }) => key > batch.last);
      if (records.length === 0) records = await source.read(-1, chunk);
    }
    return true;
  };

  const run = async (): Promise<void> => {
    let sent = true;
    while (again && sent && !stopped) {
      again = false;
      for (const source of parts.sources()) sent = sent && (await empty(source).catch(storeFailed));
    }
    running = undefined;
  };
  /** The next event, or the next look at the page, tries again; what is in memory goes out meanwhile. */
  const storeFailed = (error: unknown): boolean => {
    parts.onError(error);
    return true;
  };

  const wake = (): void => {
    again = true;
    if (!stopped && !wait) running ??= run();
  };

  return {
    wake,
    nudge() {
      if (wait && !wait.demanded) endWait();
      else wake();
    },
    finished: () => running ?? Promise.resolve(),
    sendLeaving(events) {
      const unsent = events.filter(({ id }) => !inFlight.has(id) && !settled.has(id));
      if (stopped || wait?.demanded || unsent.length === 0) return;
      leaving = send(unsent, true).then(() => undefined);
    },
    stop() {
      stopped = true;
      wait?.cancel();
      wait = undefined;
    },
  };
}
