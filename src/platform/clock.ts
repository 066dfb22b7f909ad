import { listen, native } from './native.ts';

/** The source of time. Tests replace it with a fake clock that they advance manually. */
export interface Clock {
  /**
   * Wall-clock time, in milliseconds since the Unix epoch. The user can change it, and it advances while the device
   * sleeps.
   */
  now(): number;
  /**
   * Monotonic time in milliseconds, for durations. On most platforms it stops while the device sleeps
   * ({@link https://github.com/w3c/hr-time/issues/115 | w3c/hr-time#115}).
   */
  monotonic(): number;
  /** Calls `callback` after `ms` milliseconds. Returns a function that cancels the timer. */
  after(ms: number, callback: () => void): () => void;
}

/**
 * A deadline on both the wall clock and the monotonic clock. Either clock can be wrong, so the deadline counts as
 * passed as soon as it has passed on one of them.
 */
export interface Deadline {
  passed(): boolean;
  /** Returns the remaining time in milliseconds, which is negative once the deadline has passed. */
  leftMs(): number;
}

type TimeSource = Pick<Clock, 'now' | 'monotonic'>;

/**
 * Starts a stopwatch. The returned function returns the elapsed wall-clock or monotonic time in milliseconds, whichever
 * is longer.
 */
export function startStopwatch(clock: TimeSource): () => number {
  const monotonic = clock.monotonic();
  const wall = clock.now();
  return () => Math.max(clock.monotonic() - monotonic, clock.now() - wall);
}

/** Creates a deadline `ms` milliseconds from now or from the start of the stopwatch `elapsedMs`. */
export function createDeadline(
  clock: TimeSource,
  ms: number,
  elapsedMs = startStopwatch(clock),
): Deadline {
  const remainingMs = (): number => ms - elapsedMs();
  return { leftMs: remainingMs, passed: () => remainingMs() <= 0 };
}

/** Maximum delay that `setTimeout` supports, in milliseconds. A timer with a longer delay fires immediately. */
const maxTimeoutMs = 2 ** 31 - 1;

/** The browser's clock. */
export const systemClock: Clock = {
  now: () => native.now(),
  monotonic: () => native.monotonic(),
  after(ms, callback) {
    const timer = native.setTimeout(callback, Math.min(ms, maxTimeoutMs));
    return () => native.clearTimeout(timer);
  },
};

/** Why {@link runWithTimeout} returned no result. `failed` means that the promise from `work` rejected. */
export type NoResult = 'timeout' | 'aborted' | 'failed';

/**
 * Runs `work` with a timeout of `ms` milliseconds. On timeout, or when `callerSignal` aborts, aborts the signal that
 * was passed to `work` and resolves immediately, without waiting for `work`. Never rejects.
 */
export const runWithTimeout = <T extends object | boolean>(
  clock: Clock,
  ms: number,
  callerSignal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | NoResult> =>
  new Promise((resolve) => {
    const controller = new native.AbortController();
    const settle = (result: T | NoResult): void => {
      cancelTimer();
      stopAbort?.();
      resolve(result);
    };
    const stop = (reason: NoResult): void => {
      settle(reason);
      controller.abort();
    };
    const abort = (): void => stop('aborted');
    const cancelTimer = clock.after(ms, () => stop('timeout'));
    const stopAbort = callerSignal && listen(callerSignal, 'abort', abort);
    if (callerSignal?.aborted) abort();
    else work(controller.signal).then(settle, () => settle('failed'));
  });

/**
 * Creates a controller that aborts when any of the signals aborts. Aborting the controller removes its listeners from
 * the signals. This replaces `AbortSignal.any()`, which requires Safari 17.4; games also run on older phones.
 */
export function linkSignals(...signals: (AbortSignal | null | undefined)[]): AbortController {
  const linkedController = new native.AbortController();
  for (const signal of signals) {
    if (!signal) continue;
    const abort = () => linkedController.abort();
    listen(signal, 'abort', abort, { signal: linkedController.signal });
    if (signal.aborted) linkedController.abort();
  }
  return linkedController;
}
