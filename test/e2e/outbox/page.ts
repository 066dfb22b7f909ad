/** The page that these tests open. Its outbox uses real browser APIs. Tests control the outbox through `window.game`. */
import { createOutbox, type NewAdEvent } from '../../../src/outbox/outbox.ts';
import type { OutboxDiagnostics } from '../../../src/outbox/state.ts';
import { createIndexedDbStore, readAll } from '../../../src/outbox/event-store.ts';
import { type Clock, systemClock } from '../../../src/platform/clock.ts';
import { browserConnectivity, browserPageLifecycle } from '../../../src/platform/page.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { browserLocks } from '../../../src/platform/locks.ts';
import { browserTabChannel } from '../../../src/platform/page.ts';
import { createServiceClient } from '../../../src/transport/service-client.ts';

/** Parameters in the page's URL. */
export interface PageOptions {
  /** How far the page's clock is ahead of real time, in milliseconds. */
  clockOffsetMs?: number;
  /** How many times as fast as real time the outbox's timers run. Default: 20. */
  speed?: number;
  /** How long the page waits for a response, in milliseconds of real time. Default: 20 s, as in a game. */
  requestTimeoutMs?: number;
  /** The step at which the page notifies the server and then waits forever. */
  stopAt?: Step;
}

/** The steps at which a page can stop while it stores and sends an event. */
export type Step =
  | 'before the write'
  | 'after the write'
  | 'before the request'
  | 'after the response'
  | 'before the removal'
  | 'after the removal';

export interface TestPage {
  /** Enqueues events in one task. When an event is stored, its id is added to `resolved`. */
  enqueueEvents(count: number, type?: NewAdEvent['type'], detail?: string): Promise<void>;
  resolved: string[];
  diagnostics(): OutboxDiagnostics;
  /** Number of records in the database. */
  countRecords(): Promise<number>;
  /** How many timers the outbox has set. */
  timers(): number;
  flush(): Promise<void>;
  shiftClock(ms: number): void;
}

declare global {
  interface Window {
    game: TestPage;
  }
}

const options = JSON.parse(decodeURIComponent(location.search.slice(1)) || '{}') as PageOptions;
const { requestTimeoutMs = 20_000, speed = 20 } = options;
let clockOffsetMs = options.clockOffsetMs ?? 0;
const pendingTimers = new Set<number>();
const clock: Clock = {
  now: () => Date.now() + clockOffsetMs,
  monotonic: systemClock.monotonic,
  after(ms, callback) {
    const timer = setTimeout(() => {
      pendingTimers.delete(timer);
      callback();
    }, ms / speed) as unknown as number;
    pendingTimers.add(timer);
    return () => {
      clearTimeout(timer);
      pendingTimers.delete(timer);
    };
  },
};

/**
 * Runs `work` between two steps. If the URL's `stopAt` parameter names one of them, the page notifies the server when
 * it reaches that step, and then waits forever.
 */
const passStep = async <T>(before: Step, after: Step, work: () => Promise<T>): Promise<T> => {
  await reach(before);
  const result = await work();
  await reach(after);
  return result;
};
const reach = async (step: Step): Promise<void> => {
  if (step !== options.stopAt) return;
  await fetch('/stopped', { method: 'POST' });
  await new Promise(() => undefined);
};

// The store uses real time, because these tests do not cover the database timeout.
const indexedDbStore = createIndexedDbStore({ name: 'outbox-test', clock: systemClock });
const store: typeof indexedDbStore = {
  ...indexedDbStore,
  append: (records) =>
    passStep('before the write', 'after the write', () => indexedDbStore.append(records)),
  remove: (first, last) =>
    passStep('before the removal', 'after the removal', () => indexedDbStore.remove(first, last)),
};
const serviceClient = createServiceClient({
  serviceUrl: location.origin,
  publishableKey: 'pk_test',
  fetch: (...request) => fetch(...request),
  clock,
  // Not faster than real time: on a busy machine, a response can take seconds.
  timeoutMs: requestTimeoutMs * speed,
});

let lastId = '';
const outbox = createOutbox({
  name: 'outbox-test',
  client: {
    call: (...request) =>
      passStep('before the request', 'after the response', () => serviceClient.call(...request)),
  },
  clock,
  random: Math.random,
  newId: () => (lastId = newRandomId()),
  locks: browserLocks(),
  connectivity: browserConnectivity,
  lifecycle: browserPageLifecycle,
  openTabChannel: browserTabChannel,
  store: options.stopAt ? store : indexedDbStore,
});

const resolved: string[] = [];
window.game = {
  async enqueueEvents(count, type = 'midpoint', detail = 'good') {
    const event = { type, decision_id: 'dec_1', token: 'token', detail };
    await Promise.all(
      Array.from({ length: count }, async () => {
        const storedPromise = outbox.enqueue(event);
        const id = lastId;
        await storedPromise;
        resolved.push(id);
        navigator.sendBeacon('/resolved', id);
      }),
    );
  },
  resolved,
  diagnostics: () => outbox.diagnostics(),
  countRecords: async () => (await readAll(indexedDbStore)).length,
  timers: () => pendingTimers.size,
  flush: () => outbox.flush(),
  shiftClock: (ms) => (clockOffsetMs += ms),
};
