interface Subscriptions {
  callbacks: Set<() => void>;
  /** The only listener that the signal has from here, while there are subscriptions. */
  listener: () => void;
}
const subscriptionsBySignal = new WeakMap<AbortSignal, Subscriptions>();

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
  const { callbacks, listener } = subscriptionsBySignal.get(signal) ?? listen(signal);
  // A function may be subscribed several times.
  const subscription = (): void => callback();
  callbacks.add(subscription);
  return () => {
    if (!callbacks.delete(subscription) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    subscriptionsBySignal.delete(signal);
  };
}

function listen(signal: AbortSignal): Subscriptions {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const call of callbacks) call();
  };
  signal.addEventListener('abort', listener, { once: true });
  subscriptionsBySignal.set(signal, { callbacks, listener });
  return { callbacks, listener };
}
