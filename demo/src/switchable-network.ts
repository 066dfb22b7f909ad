/** A `fetch` that can be switched off, as if the device were offline. */
export interface SwitchableNetwork {
  fetch: typeof fetch;
  setOffline(offline: boolean): void;
}

export function createSwitchableNetwork(): SwitchableNetwork {
  let cut = new AbortController();
  return {
    fetch(input, init) {
      const signals = [cut.signal, init?.signal].filter((signal) => signal != null);
      return fetch(input, { ...init, signal: AbortSignal.any(signals) });
    },
    setOffline(offline) {
      // A browser's `fetch` rejects with the same error when the network is lost.
      if (offline) cut.abort(new TypeError('Failed to fetch'));
      else cut = new AbortController();
      // The browser fires the same event, and the SDK listens to it.
      window.dispatchEvent(new Event(offline ? 'offline' : 'online'));
    },
  };
}
