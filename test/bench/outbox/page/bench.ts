/** The part of the benchmark that runs in the page. `BenchPage.call()` calls its functions. */
import '../contenders/contender.ts';
import { meterFrames, type FrameTimes } from './frame-meter.ts';
import { createSampleEvents, type SampleEvent } from './sample-event.ts';
import { storedEventIds } from './scan-storage.ts';
import { countWakeUps, wakeUpsSoFar, type WakeUps } from './wake-ups.ts';
import { openYardstick, type Yardstick } from './yardstick.ts';

export interface PacedResult {
  /** Main-thread time for each event, in milliseconds. Includes the call and its microtasks. */
  cost: number[];
  /** Time from each call until its promise resolved, in milliseconds. Empty if the queue doesn't return promises. */
  acknowledgmentMs: number[];
  frames: FrameTimes;
}

/** The cost of the contender's events, and of the baseline's events in the interleaved frames. */
export interface ComparedResult extends Omit<PacedResult, 'frames'> {
  yardstickCost: number[];
}

/** What the page reports before it is killed. */
export type Report = { acknowledged: string[] } | { made: number };

declare global {
  interface Window {
    /** The benchmark defines this function only when it is going to kill the browser. */
    report?: (report: string) => void;
  }
}

const scheduleTimer = window.setTimeout.bind(window);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => scheduleTimer(resolve, ms));
const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
const parameters = new URLSearchParams(location.search);
const createEvent = createSampleEvents(parameters.get('run') ?? 'none');
let yardstick: Yardstick | undefined;
let endMeter: (() => FrameTimes) | undefined;

window.contender = {
  init: async () => undefined,
  enqueue: () => undefined,
  flush: async () => undefined,
};
countWakeUps();

type Store = (event: SampleEvent) => Promise<unknown> | undefined;

/** Stores `count` events in one frame. Returns the time until all of their microtasks had run. */
const storeInFrame = (
  count: number,
  store: Store,
  onPromise: (promise: Promise<unknown>, startedAt: number) => void,
) =>
  new Promise<number>((resolve) => {
    let startedAt = 0;
    requestAnimationFrame(() => {
      const events = Array.from({ length: count }, createEvent);
      startedAt = performance.now();
      for (const event of events) {
        const promise = store(event);
        if (promise !== undefined) onPromise(promise, startedAt);
      }
    });
    // The browser runs all microtasks before it calls the frame's next callback, so this callback ends the measurement.
    requestAnimationFrame(() => resolve(performance.now() - startedAt));
  });

const enqueue: Store = (event) => window.contender.enqueue(event);

const measureYardstick = async (): Promise<number> => {
  yardstick ??= await openYardstick();
  return storeInFrame(1, yardstick, () => undefined);
};

/** Enqueues one event per frame. Calls `between` after each event. */
async function storeEach(
  count: number,
  between: () => Promise<void> = async () => undefined,
): Promise<Omit<PacedResult, 'frames'>> {
  const acknowledgmentMs: number[] = [];
  const cost: number[] = [];
  const acknowledgments: Promise<unknown>[] = [];
  for (let made = 0; made < count; made++) {
    const ms = await storeInFrame(1, enqueue, (promise, startedAt) => {
      const recordAcknowledgment = (): void =>
        void acknowledgmentMs.push(performance.now() - startedAt);
      acknowledgments.push(promise.then(recordAcknowledgment, () => undefined));
    });
    cost.push(ms);
    await between();
  }
  await Promise.race([Promise.allSettled(acknowledgments), sleep(2_000)]);
  return { cost, acknowledgmentMs };
}

const bench = {
  /** Starts the contender named in the URL. */
  async start(): Promise<void> {
    const name = parameters.get('contender');
    if (name === null) return;
    const script = document.createElement('script');
    script.src = `/contenders/${name}.js`;
    await new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    await window.contender.init(`${location.origin}/collect/${name}`);
  },

  /** Enqueues events in batches of 40, as fast as the contender stores them. Stops after `budgetMs`. */
  async fill(count: number, budgetMs: number): Promise<number> {
    const endAt = performance.now() + budgetMs;
    let made = 0;
    while (made < count && performance.now() < endAt) {
      const batchSize = Math.min(40, count - made);
      const events = Array.from({ length: batchSize }, createEvent);
      const promises = events.flatMap((event) => window.contender.enqueue(event) ?? []);
      made += batchSize;
      await Promise.race([Promise.allSettled(promises), sleep(endAt - performance.now())]);
      await sleep(0);
    }
    return made;
  },

  /** Enqueues one event per frame, in frames with `busyMs` of game work. */
  async paced(count: number, busyMs: number): Promise<PacedResult> {
    const end = meterFrames(busyMs);
    const { cost, acknowledgmentMs } = await storeEach(count);
    return { cost, acknowledgmentMs, frames: end() };
  },

  /** Alternates between two kinds of frames: one enqueues an event, and the other stores an event with the baseline. */
  async compared(count: number): Promise<ComparedResult> {
    const yardstickCost: number[] = [];
    const result = await storeEach(count, async () => {
      yardstickCost.push(await measureYardstick());
    });
    return { ...result, yardstickCost };
  },

  /** Like `compared`, but stores events only with the baseline. */
  async yardstickAlone(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await frame();
      await measureYardstick();
    }
  },

  /**
   * Enqueues many events in one task. Returns how long the task took, and how long it took to store all events, in
   * milliseconds.
   */
  async burst(count: number): Promise<{ cost: number; stored: number | undefined }> {
    let startedAt = 0;
    const promises: Promise<unknown>[] = [];
    const cost = await storeInFrame(count, enqueue, (promise, enqueuedAt) => {
      startedAt = enqueuedAt;
      promises.push(promise);
    });
    await Promise.race([Promise.allSettled(promises), sleep(5_000)]);
    return { cost, stored: promises.length > 0 ? performance.now() - startedAt : undefined };
  },

  /**
   * Enqueues many events per frame until `count` or `budgetMs` is reached. Reports each acknowledgment and, at the end,
   * the number of events.
   */
  async storm(count: number, perFrame: number, budgetMs: number): Promise<void> {
    const endAt = performance.now() + budgetMs;
    const report = (content: Report): void => window.report?.(JSON.stringify(content));
    let acknowledged: string[] = [];
    const recordAcknowledgment = (id: string): void => {
      // Events that are acknowledged together share a report, which keeps the overhead low.
      if (acknowledged.push(id) === 1)
        queueMicrotask(() => {
          report({ acknowledged });
          acknowledged = [];
        });
    };
    let made = 0;
    while (made < count && performance.now() < endAt) {
      await frame();
      for (let batchSize = 0; batchSize < perFrame && made < count; batchSize++, made++) {
        const event = createEvent();
        window.contender.enqueue(event)?.then(
          () => recordAcknowledgment(event.id),
          () => undefined,
        );
      }
    }
    report({ made });
  },

  /** Measures what the idle page does within `ms` milliseconds. */
  async idle(ms: number): Promise<WakeUps> {
    const before = wakeUpsSoFar();
    await sleep(ms);
    const after = wakeUpsSoFar();
    return {
      timers: after.timers - before.timers,
      transactions: after.transactions - before.transactions,
      storageAccesses: after.storageAccesses - before.storageAccesses,
    };
  },

  meter(busyMs: number): void {
    endMeter = meterFrames(busyMs);
  },

  endMeter: (): FrameTimes | undefined => endMeter?.(),

  /** Starts sending. The receiver detects when all events have arrived. */
  flush(): void {
    window.contender.flush().catch(() => undefined);
  },

  storedEventIds,
};

export type Bench = typeof bench;

// Sets the property without declaring a global: all benchmarks are type-checked together, and each page has a different
// `bench`.
Reflect.set(window, 'outboxBench', bench);
