import { setMaxListeners } from 'node:events';

/** An `AbortController` that also follows a parent signal until it is released. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(): void;
  /** Removes the listener and the timer. Call it when the work is done, even if it failed. */
  release(): void;
}

interface Options {
  /** Aborts with a `TimeoutError` after this long; by default, there is no timeout. */
  timeoutMs?: number;
}

/**
 * Creates a signal that aborts when `parent` does. `AbortSignal.any` does the same, but on Node 20, each call leaks
 * about 58 bytes on its source signals. This adds up if a source signal lives as long as the process.
 */
export function linkSignal(parent: AbortSignal, { timeoutMs }: Options = {}): LinkedSignal {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
  // Each running operation adds a listener, so having more than ten listeners doesn't mean that there is a leak.
  setMaxListeners(0, parent);
  parent.addEventListener('abort', follow, { once: true });
  if (parent.aborted) follow();
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    release() {
      clearTimeout(timer);
      parent.removeEventListener('abort', follow);
    },
  };
}

/** Creates the error of a request that timed out. */
export const timeoutError = (ms: number): DOMException =>
  new DOMException(`No response within ${ms} ms.`, 'TimeoutError');
