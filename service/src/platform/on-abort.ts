const callbacksBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when a signal aborts, or at once if it has. Returns a function that ends the subscription.
 *
 * Adds one listener per signal, however many subscribers there are: thousands of requests may wait for the process to
 * stop, and Node warns of a leak from the eleventh listener on.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  let callbacks = callbacksBySignal.get(signal);
  if (!callbacks) {
    const added = (callbacks = new Set());
    callbacksBySignal.set(signal, added);
    const abort = (): void => {
      for (const call of added) call();
    };
    signal.addEventListener('abort', abort, { once: true });
  }
  // A function may be subscribed several times.
  const subscription = (): void => callback();
  callbacks.add(subscription);
  return () => void callbacks.delete(subscription);
}
