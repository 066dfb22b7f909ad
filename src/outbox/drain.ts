import type { RewardStatus } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { Locks } from '../platform/locks.ts';
import { createBackOff, type Pause } from '../transport/back-off.ts';
import type { ServiceClient } from '../transport/service-client.ts';
import {
  type EventStore,
  exceeds,
  isEventRecord,
  measureEvents,
  pageSize,
  type QueuedEvent,
  type Size,
  type StoredRecord,
} from './event-store.ts';
import { sendEvents } from './send.ts';
import { countDrops, incrementCount, type OutboxState, type Queue } from './state.ts';
import { maxRecordBytes } from './storage.ts';
import { native } from '../platform/native.ts';

export interface DrainDeps {
  /** Name of the lock that all tabs share. */
  name: string;
  client: ServiceClient;
  clock: Clock;
  random: () => number;
  locks: Locks;
  state: OutboxState;
  /** Whether this tab may send other tabs' events. */
  mayLead(): boolean;
  onRewards(rewards: RewardStatus[]): void;
  /** Called when a queue shrinks. */
  onResize(queue: Queue, events: number, bytes: number): void;
  /** Called when sending or a store fails. A store is retried with the next event, or when the player returns. */
  onError(error: unknown): void;
  /** Called when sending fails, so that the other tabs back off too. */
  onPause(pause: Pause): void;
}

/** Sends the contents of the queues, one request at a time. */
export interface Drain {
  /** Starts sending. A no-op while sending or backing off. */
  wake(): void;
  /** Starts sending, and ends a back-off early unless the service requested it. */
  nudge(): void;
  isRunning(): boolean;
  /** Releases the lock, so that another tab can take over. Does not interrupt requests in flight. */
  resign(): void;
  /** Resolves when the queues are empty or sending has failed. */
  finished(): Promise<void>;
  /** Sends events immediately, without storing them first. With `keepalive`, the request outlives the page. */
  sendDirectly(events: QueuedEvent[], keepalive: boolean): void;
  /** Backs off, because sending failed in another tab. */
  pause(pause: Pause): void;
  stop(): void;
}

/** The maximum size of a request. The service accepts 500 events and 256 KiB. */
const maxBatch: Size = { events: 500, bytes: 250_000 };
/** The maximum size of the first request after a failure. Small, so that a lost response causes few duplicates. */
const batchAfterFailure: Size = { events: 25, bytes: maxRecordBytes };
/**
 * Maximum size of a `keepalive` request. All `keepalive` requests from a page, including those from other scripts,
 * share a limit of 64 KiB.
 */
export const keepaliveBytes = 15_000;

/** Creates the {@link Drain} for an outbox. */
export function createDrain(deps: DrainDeps): Drain {
  const { locks, name, onError, onResize, state } = deps;
  const { diagnostics, handled } = state;
  const directSends = new Set<Promise<boolean>>();
  let running: Promise<void> | undefined;
  let runAgain = false;
  let stopped = false;
  let batchLimits = maxBatch;
  /** Aborting it releases the lock. */
  let turn = new native.AbortController();
  const backOff = createBackOff(deps, () => wake());

  /** Sends events and applies the response. Does not change the stores. Resolves to false if some remain unsent. */
  const send = async (events: QueuedEvent[], keepalive: boolean): Promise<boolean> => {
    const unsent = events.filter(({ id }) => !handled.has(id));
    if (unsent.length === 0) return true;
    for (const { id } of unsent) handled.add(id);
    const dropped = state.unreportedDrops;
    state.unreportedDrops = {};
    const { failure, rejections, rewards, settled } = await sendEvents(
      deps,
      unsent,
      dropped,
      keepalive,
    );
    for (const { id } of unsent) if (!settled.has(id)) handled.delete(id);
    state.recent = state.recent.filter(({ id }) => !settled.has(id));
    diagnostics.sent += settled.size - rejections.length;
    for (const code of rejections) incrementCount(diagnostics.rejected, code, 1);
    if (rewards.length > 0) deps.onRewards(rewards);
    if (!failure) {
      backOff.reset();
      batchLimits = maxBatch;
      return true;
    }
    onError(failure.reason);
    // A drop may be reported twice, which is acceptable because these counts are only informational.
    for (const [reason, count] of Object.entries(dropped))
      incrementCount(state.unreportedDrops, reason, count);
    batchLimits = batchAfterFailure;
    if (!stopped) deps.onPause(backOff.fail(failure.retryAfterMs));
    return false;
  };

  /** Sends a batch and removes it from its queue. Resolves to false if sending failed. */
  const sendBatch = async (queue: Queue, batch: Batch): Promise<boolean> => {
    if (!(await send(batch.events, batch.bytes <= keepaliveBytes))) return false;
    await queue.store.remove(batch.firstKey, batch.lastKey);
    for (const { id } of batch.events) handled.delete(id);
    countDrops(state, 'unreadable', batch.unreadable);
    onResize(queue, -batch.events.length, -batch.bytes);
    return true;
  };

  /** Sends a queue's contents. Stops when the queue is empty, sending fails or `signal` aborts. */
  const drainQueue = async (queue: Queue, signal?: AbortSignal): Promise<void> => {
    const { store } = queue;
    let records = await readAhead(store, -1, []);
    for (;;) {
      // Events that are being sent directly must not be removed before their acknowledgment.
      while (directSends.size > 0) await Promise.all(directSends);
      if (stopped || backOff.isWaiting() || signal?.aborted) return;
      const batch = pickBatch(records, batchLimits);
      if (!batch) break;
      const remaining = records.slice(batch.records);
      const [isSent, next] = await Promise.all([
        sendBatch(queue, batch),
        // Reads ahead while the request is in flight. If the read fails, it is repeated later.
        readAhead(store, batch.lastKey, remaining).catch(() => remaining),
      ]);
      if (!isSent) return;
      records = next.length > 0 ? next : await readAhead(store, -1, []);
    }
    // If the size is still above zero, something else deleted the events. For example, the player cleared the site data.
    const { events, bytes } = queue.size;
    if (events > 0) onResize(queue, -events, -bytes);
  };

  const run = async (): Promise<void> => {
    // A back-off may have ended while a store was being read.
    while (runAgain && !stopped && !backOff.isWaiting()) {
      runAgain = false;
      // If one store fails, the other must still be drained.
      await drainQueue(state.local).catch(onError);
      if (stopped || backOff.isWaiting() || !deps.mayLead()) continue;
      const { signal } = (turn = new native.AbortController());
      await locks(name, signal);
      if (!signal.aborted) await drainQueue(state.shared, signal).catch(onError);
      turn.abort();
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
      backOff.hurry();
      wake();
    },
    isRunning: () => running !== undefined,
    resign: () => turn.abort(),
    finished: async () => running,
    sendDirectly(events, keepalive) {
      // A page that is being unloaded gets no later chance to send.
      if (keepalive) backOff.hurry();
      if (stopped || backOff.isWaiting()) return;
      const sending = send(events, keepalive);
      directSends.add(sending);
      void sending.finally(() => directSends.delete(sending));
    },
    pause(pause) {
      if (!stopped) backOff.pause(pause);
    },
    stop() {
      stopped = true;
      backOff.cancel();
      turn.abort();
    },
  };
}

/** Reads records after `afterKey` into `records` until there are enough for the largest request. */
async function readAhead(
  store: EventStore,
  afterKey: number,
  records: StoredRecord[],
): Promise<StoredRecord[]> {
  if (countEvents(records) >= maxBatch.events) return records;
  const page = await store.read(records.at(-1)?.key ?? afterKey);
  const all = records.concat(page);
  return page.length < pageSize ? all : readAhead(store, afterKey, all);
}

const countEvents = (records: StoredRecord[]): number =>
  records.reduce((sum, { value }) => sum + (isEventRecord(value) ? value.events.length : 1), 0);

/** Records that are sent in one request and removed together. */
interface Batch {
  /** Number of records. */
  records: number;
  firstKey: number;
  lastKey: number;
  events: QueuedEvent[];
  bytes: number;
  /** Number of records that this release cannot read. */
  unreadable: number;
}

/**
 * Picks the oldest records that fit into one request. Picks at least one record, because every record fits on its own.
 * Returns undefined if there are no records.
 */
function pickBatch(records: StoredRecord[], limits: Size): Batch | undefined {
  const [first] = records;
  if (!first) return undefined;
  const batch: Batch = {
    records: 0,
    firstKey: first.key,
    lastKey: first.key,
    events: [],
    bytes: 0,
    unreadable: 0,
  };
  for (const { key, value } of records) {
    const events = parseRecord(value);
    const bytes = batch.bytes + measureEvents(events);
    const size = { events: batch.events.length + events.length, bytes };
    if (batch.events.length > 0 && exceeds(size, limits)) break;
    if (events.length === 0) batch.unreadable += 1;
    batch.events.push(...events);
    batch.bytes = bytes;
    batch.records += 1;
    batch.lastKey = key;
  }
  return batch;
}

/** Returns a record's events, or none if the record is corrupt or was written by an unknown release. */
function parseRecord(value: unknown): QueuedEvent[] {
  if (!isEventRecord(value)) return [];
  try {
    const events = value.events.map((json) => ({ id: (JSON.parse(json) as QueuedEvent).id, json }));
    return events.every(({ id }) => id) ? events : [];
  } catch {
    return [];
  }
}
