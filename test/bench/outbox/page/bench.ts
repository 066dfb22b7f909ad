/** The part of the benchmark that runs in the page. `BenchPage.call()` calls its functions. */
import '../contestants/contestant.ts';
import { meterFrames, type FrameTimes } from './frame-meter.ts';
import { createSampleEvents, type SampleEvent } from './sample-event.ts';
import { storedEventIds } from './scan-storage.ts';
import { countWakeUps, wakeUpsSoFar, type WakeUps } from './wake-ups.ts';
import { openYardstick, type Yardstick } from './yardstick.ts';

export interface PacedResult {
  /** Main-thread time of each event in milliseconds, for the call and its microtasks. */
  cost: number[];
  /** Time from each call until its promise resolved, in milliseconds. Empty if the queue returns no promises. */
  acknowledgmentMs: number[];
  frames: FrameTimes;
}

/** The cost of events, and of the baseline that runs in the frames in between. */
export interface ComparedResult extends Omit<PacedResult, 'frames'> {
  yardstickCost: number[];
}

/** What the page reports until it is killed. */
export type Report = { acknowledged: string[] } | { made: number };

declare global {
  interface Window {
    /** The benchmark defines this function only when it measures a killed browser. */
    report?: (report: string) => void;
  }
}

const later = window.setTimeout.bind(window);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => later(resolve, ms));
const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
const parameters = new URLSearchParams(location.search);
const make = createSampleEvents(parameters.get('run') ?? 'none');
let yardstick: Yardstick | undefined;
let endMeter: (() => FrameTimes) | undefined;

window.contestant = {
  init: async () => undefined,
  enqueue: () => undefined,
  flush: async () => undefined,
};
countWakeUps();

type Store = (event: SampleEvent) => Promise<unknown> | undefined;

/** Stores `count` events in one frame. Returns the time until the microtasks of the events were done. */
const storeInFrame = (
  count: number,
  store: Store,
  use: (stored: Promise<unknown>, at: number) => void,
) =>
  new Promise<number>((resolve) => {
    let startedAt = 0;
    requestAnimationFrame(() => {
      const events = Array.from({ length: count }, make);
      startedAt = performance.now();
      for (const event of events) {
        const stored = store(event);
        if (stored !== undefined) use(stored, startedAt);
      }
    });
    // The browser runs all microtasks before it calls the frame's next callback. This callback therefore ends the
    // measurement.
    requestAnimationFrame(() => resolve(performance.now() - startedAt));
  });

const enqueue: Store = (event) => window.contestant.enqueue(event);

const measureYardstick = async (): Promise<number> => {
  yardstick ??= await openYardstick();
  return storeInFrame(1, yardstick, () => undefined);
};

/** Enqueues one event per frame. */
async function storeEach(
  count: number,
  between: () => Promise<void> = async () => undefined,
): Promise<Omit<PacedResult, 'frames'>> {
  const acknowledgmentMs: number[] = [];
  const cost: number[] = [];
  const waiting: Promise<unknown>[] = [];
  for (let made = 0; made < count; made++) {
    const spent = await storeInFrame(1, enqueue, (stored, at) => {
      const recordAcknowledgment = (): void => void acknowledgmentMs.push(performance.now() - at);
      waiting.push(stored.then(recordAcknowledgment, () => undefined));
    });
    cost.push(spent);
    await between();
  }
  await Promise.race([Promise.allSettled(waiting), sleep(2_000)]);
  return { cost, acknowledgmentMs };
}

const bench = {
  /** Starts the contestant named in the URL. */
  async start(): Promise<void> {
    const name = parameters.get('contestant');
    if (name === null) return;
    const script = document.createElement('script');
    script.src = `/contestants/${name}.js`;
    await new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    await window.contestant.init(`${location.origin}/collect/${name}`);
  },

  /** Enqueues events as fast as the contestant stores them, 40 at a time, and stops after `budgetMs`. */
  async fill(count: number, budgetMs: number): Promise<number> {
    const endAt = performance.now() + budgetMs;
    let made = 0;
    while (made < count && performance.now() < endAt) {
      const batchSize = Math.min(40, count - made);
      const events = Array.from({ length: batchSize }, make);
      const stored = events.flatMap((event) => window.contestant.enqueue(event) ?? []);
      made += batchSize;
      await Promise.race([Promise.allSettled(stored), sleep(endAt - performance.now())]);
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
    const measured = await storeEach(count, async () => {
      yardstickCost.push(await measureYardstick());
    });
    return { ...measured, yardstickCost };
  },

  /** Like `compared`, but stores events only with the baseline. */
  async yardstickAlone(count: number): Promise<void> {
    for (let passed = 0; passed < count; passed++) {
      await frame();
      await measureYardstick();
    }
  },

  /**
   * Enqueues many events in one task. Returns the time until the task ended and until all events were stored, in
   * milliseconds.
   */
  async burst(count: number): Promise<{ cost: number; stored: number | undefined }> {
    let startedAt = 0;
    const waiting: Promise<unknown>[] = [];
    const cost = await storeInFrame(count, enqueue, (stored, at) => {
      startedAt = at;
      waiting.push(stored);
    });
    await Promise.race([Promise.allSettled(waiting), sleep(5_000)]);
    return { cost, stored: waiting.length > 0 ? performance.now() - startedAt : undefined };
  },

  /**
   * Enqueues many events per frame until `count` or `budgetMs` is reached. Reports each acknowledgment and finally the
   * number of events.
   */
  async storm(count: number, perFrame: number, budgetMs: number): Promise<void> {
    const endAt = performance.now() + budgetMs;
    const report = (content: Report): void => window.report?.(JSON.stringify(content));
    let acknowledged: string[] = [];
    const recordAcknowledgment = (id: string): void => {
      // Events that resolve together share a report, which makes reporting cheap.
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
        const event = make();
        const stored = window.contestant.enqueue(event);
        stored?.then(
          () => recordAcknowledgment(event.id),
          () => undefined,
        );
      }
    }
    report({ made });
  },

  /** Measures the activity of an idle page for `ms` milliseconds. */
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
    window.contestant.flush().catch(() => undefined);
  },

  storedEventIds,
};

export type Bench = typeof bench;

// This is not a global declaration, because all benchmarks are type-checked together and each page has a different
// `bench`.
Reflect.set(window, 'outboxBench', bench);
