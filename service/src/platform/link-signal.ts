import { setMaxListeners } from 'node:events';

/** A signal that can be aborted directly or by its parent signal. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(): void;
  /** Removes the listener from the parent and clears the timer. Must be called when the work has settled. */
  release(): void;
}

interface Options {
  /** Aborts with a `TimeoutError` after this time. By default, there is no timeout. */
  timeoutMs?: number;
}

/**
 * Creates a signal that aborts when `parent` does. Replaces `AbortSignal.any`, which leaks about 58 bytes per call on
 * Node 20 for as long as the parent exists.
 */
export function linkSignal(parent: AbortSignal, { timeoutMs }: Options = {}): LinkedSignal {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => controller.abort(timeoutError(timeoutMs)), timeoutMs);
  // Every operation adds a listener, so more than ten listeners don't indicate a leak.
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
