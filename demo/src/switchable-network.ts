/** A `fetch` that can be cut, as if the device had lost its network. */
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
      // What a browser's own fetch rejects with when the network goes.
      if (offline) cut.abort(new TypeError('Failed to fetch'));
      else cut = new AbortController();
      // The browser says the same, and the SDK listens to it.
      window.dispatchEvent(new Event(offline ? 'offline' : 'online'));
    },
  };
}
