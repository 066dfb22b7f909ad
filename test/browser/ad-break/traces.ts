import type { Clock } from '../../../src/platform/clock.ts';

interface Timer {
  due: number;
  callback(): void;
  id?: ReturnType<typeof setTimeout>;
}

/**
 * A clock that goes as the machine's own until it is hastened, and then `speed` times as fast. It counts
 * the timers that are still set.
 */
export function fastClock(speed: number): {
  clock: Clock;
  hasten(): void;
  timers(): number;
  /** Lets time pass in which no timer ran. */
  sleep(ms: number): void;
  /** How much time has passed, apart from sleep; in milliseconds. */
  passed(): number;
  /** What the test machine's own three seconds are on this clock, in milliseconds. */
  readonly allowance: number;
} {
  const set = new Set<Timer>();
  const began = performance.now();
  let fastSince = Infinity;
  let slept = 0;
  const passed = () => {
    const now = performance.now();
    return now - began + Math.max(0, now - fastSince) * (speed - 1);
  };
  function start(timer: Timer): void {
    const leftMs = (timer.due - passed()) / (fastSince === Infinity ? 1 : speed);
    clearTimeout(timer.id);
    timer.id = setTimeout(() => {
      set.delete(timer);
      timer.callback();
    }, leftMs);
  }
  return {
    allowance: 3000 * speed,
    hasten() {
      fastSince = Math.min(fastSince, performance.now());
      for (const timer of set) start(timer);
    },
    sleep(ms) {
      slept += ms;
    },
    passed,
    clock: {
      now: () => Date.now(),
      monotonic: () => began + passed() + slept,
      after(ms, callback) {
        const timer: Timer = { due: passed() + ms, callback };
        set.add(timer);
        start(timer);
        return () => {
          set.delete(timer);
          clearTimeout(timer.id);
        };
      },
    },
    timers: () => set.size,
  };
}

/** Counts the listeners on what outlives an ad, and the frames that are asked for, from now on. */
export function watchTraces(): { left(): string[]; stop(): void } {
  const left = new Set<string>();
  const names = new Map<unknown, number>();
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const request = window.requestAnimationFrame;
  const cancel = window.cancelAnimationFrame;
  const lasting = (target: unknown): boolean =>
    target === window || target === document || target instanceof AbortSignal;
  const nameOf = (type: string, listener: unknown): string => {
    if (!names.has(listener)) names.set(listener, names.size);
    return `listener of ${type}, number ${names.get(listener)}`;
  };

  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const { once = false, signal } = typeof options === 'object' ? options : {};
    add.call(this, type, listener, options);
    // A signal that only the SDK knows goes with it.
    if (listener === null || !lasting(this ?? window) || once) return;
    const name = nameOf(type, listener);
    left.add(name);
    if (signal) add.call(signal, 'abort', () => left.delete(name));
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    remove.call(this, type, listener, options);
    left.delete(nameOf(type, listener));
  };
  window.requestAnimationFrame = (callback) => {
    const frame = request.call(window, (time) => {
      left.delete(`frame ${frame}`);
      callback(time);
    });
    left.add(`frame ${frame}`);
    return frame;
  };
  window.cancelAnimationFrame = (frame) => {
    left.delete(`frame ${frame}`);
    cancel.call(window, frame);
  };

  return {
    left: () => [...left],
    stop() {
      EventTarget.prototype.addEventListener = add;
      EventTarget.prototype.removeEventListener = remove;
      window.requestAnimationFrame = request;
      window.cancelAnimationFrame = cancel;
    },
  };
}
