/** A `fetch` that can be switched off, as if the device were offline. */
export interface SwitchableNetwork {
  fetch: typeof fetch;
  setOffline(offline: boolean): void;
}

export function createSwitchableNetwork(): SwitchableNetwork {
  let connection = new AbortController();
  return {
    fetch(input, init) {
      const signals = [connection.signal, init?.signal].filter((signal) => signal != null);
      return fetch(input, { ...init, signal: AbortSignal.any(signals) });
    },
    setOffline(offline) {
      // A browser's `fetch` rejects with the same error when the network is lost.
      if (offline) connection.abort(new TypeError('Failed to fetch'));
      else connection = new AbortController();
      // A browser would also fire this event. The SDK listens for it.
      window.dispatchEvent(new Event(offline ? 'offline' : 'online'));
    },
  };
}
