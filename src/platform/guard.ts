/** Reports an error to the console and `window.onerror` without interrupting the caller. */
export function surface(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Calls a callback of the game; an error in it is reported and does not reach the caller. */
export function guarded(callback: (() => void) | undefined): void {
  try {
    callback?.();
  } catch (error) {
    surface(error);
  }
}

/**
 * Returns the result of `work`, or undefined where the browser refuses it: an API that is missing, or that throws
 * because cookies are blocked, the frame is sandboxed or a policy of the page forbids it.
 */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
