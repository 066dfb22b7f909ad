import { useSyncExternalStore } from 'react';

type State = 'connected' | 'offline' | 'unreachable';

/** Tracks whether the service is reachable, by the browser's state and the latest requests. */
export interface Connection {
  current(): State;
  /** A request got a response. */
  answered(): void;
  /** A request got no response, or only from a proxy in front of the service. */
  failed(): void;
  /** Subscribes to changes; returns how to unsubscribe. */
  subscribe(onChange: () => void): () => void;
}

/** Created once per page. */
export function createConnection(): Connection {
  const listeners = new Set<() => void>();
  let isReachable = true;
  const notify = () => listeners.forEach((listener) => listener());
  const set = (next: boolean): void => {
    if (next === isReachable) return;
    isReachable = next;
    notify();
  };
  addEventListener('online', notify);
  addEventListener('offline', notify);
  return {
    current: () => (!navigator.onLine ? 'offline' : isReachable ? 'connected' : 'unreachable'),
    answered: () => set(true),
    failed: () => set(false),
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

export const useConnection = ({ subscribe, current }: Connection): State =>
  useSyncExternalStore(subscribe, current);

const unreachable = [502, 503, 504];

/**
 * A `fetch` that tracks whether the service is reachable. While offline, it rejects changes immediately, so
 * that none takes effect later, when nobody expects it.
 *
 * @throws Error with a readable message when there was no response.
 */
export async function fetchTracked(
  connection: Connection,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const isChange = (init.method ?? 'GET') !== 'GET';
  if (isChange && connection.current() === 'offline')
    throw new Error('You are offline. Nothing was changed.');
  try {
    const response = await fetch(path, init);
    if (unreachable.includes(response.status)) connection.failed();
    else connection.answered();
    return response;
  } catch (error) {
    // The caller aborted, for example because the user left the page.
    if (init.signal?.aborted === true) throw error;
    connection.failed();
    throw new Error(
      isChange
        ? 'The service did not respond. Check whether the change was saved before you repeat it.'
        : 'The service is not responding.',
      { cause: error },
    );
  }
}
