/** What the browser believes about the network: a hint to try now, never a reason not to try. */
export interface Connectivity {
  /** False only when the browser is sure that there is no network. */
  isOnline(): boolean;
  /** Calls back when a network came back. The function that it returns ends this. */
  onOnline(listener: () => void): () => void;
}

/** The browser's own hints. */
export const browserConnectivity: Connectivity = {
  isOnline: () => navigator.onLine !== false,
  onOnline(listener) {
    addEventListener('online', listener);
    return () => removeEventListener('online', listener);
  },
};

/** Calls back when the network is lost. Returns a function that stops this. */
export function onOffline(listener: () => void): () => void {
  addEventListener('offline', listener);
  return () => removeEventListener('offline', listener);
}
