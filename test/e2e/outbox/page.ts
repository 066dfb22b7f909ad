/**
 * The page of these tests. It has an outbox with real browser APIs, and functions with which tests control the outbox.
 */
import { createOutbox, type NewAdEvent } from '../../../src/outbox/outbox.ts';
import type { OutboxDiagnostics } from '../../../src/outbox/storage.ts';
import { createIndexedDbStore } from '../../../src/outbox/event-store.ts';
import { type Clock, systemClock } from '../../../src/platform/clock.ts';
import { browserConnectivity, browserPageLifecycle } from '../../../src/platform/page.ts';
import { newRandomId } from '../../../src/platform/ids.ts';
import { browserLocks } from '../../../src/platform/locks.ts';
import { browserTabChannel } from '../../../src/platform/page.ts';
import { createServiceClient } from '../../../src/transport/service-client.ts';

/** Parameters in the URL of the page. */
export interface PageOptions {
  /** How far the page's clock is ahead of real time, in milliseconds. */
  clockOffMs?: number;
  /** How many times as fast as real time the page's timers run. Default: 20. */
  speed?: number;
  /** The step at which the page notifies the server and stops for good. */
  dieAt?: Step;
}

/** The steps of storing and sending an event. */
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
  /** Number of the outbox's running timers. */
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
let clockOffMs = options.clockOffMs ?? 0;
const running = new Set<number>();
const clock: Clock = {
  now: () => Date.now() + clockOffMs,
  monotonic: systemClock.monotonic,
  after(ms, callback) {
    const timer = setTimeout(
      () => {
        running.delete(timer);
        callback();
      },
      ms / (options.speed ?? 20),
    ) as unknown as number;
    running.add(timer);
    return () => {
      clearTimeout(timer);
      running.delete(timer);
    };
  },
};

/**
 * Runs `work`, unless the URL names one of these steps as the last one. In that case, the page notifies the server and
 * stops.
 */
const passStep = async <T>(before: Step, after: Step, work: () => Promise<T>): Promise<T> => {
  await reach(before);
  const result = await work();
  await reach(after);
  return result;
};
const reach = async (step: Step): Promise<void> => {
  if (step !== options.dieAt) return;
  await fetch('/died', { method: 'POST' });
  await new Promise(() => undefined);
};

// The store uses real time. These tests do not cover the database timeout.
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
  timeoutMs: 20_000,
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
  store: options.dieAt ? store : indexedDbStore,
});

const resolved: string[] = [];
window.game = {
  async enqueueEvents(count, type = 'midpoint', detail = 'good') {
    const event = { type, decision_id: 'dec_1', token: 'token', detail };
    await Promise.all(
      Array.from({ length: count }, async () => {
        const stored = outbox.enqueue(event);
        const id = lastId;
        await stored;
        resolved.push(id);
        navigator.sendBeacon('/resolved', id);
      }),
    );
  },
  resolved,
  diagnostics: () => outbox.diagnostics(),
  countRecords: async () => (await indexedDbStore.read(-1, 1e6)).length,
  timers: () => running.size,
  flush: () => outbox.flush(),
  shiftClock: (ms) => (clockOffMs += ms),
};
