import { useSyncExternalStore } from 'react';

type State = 'connected' | 'offline' | 'unreachable';

/** Tracks whether the service is reachable, based on the browser's network state and the latest request. */
export interface Connection {
  current(): State;
  /** Records that a request received a response. */
  reportResponse(): void;
  /**
   * Records that a request received no response from the service. A proxy in front of the service may have responded.
   */
  reportFailure(): void;
  /** Subscribes to changes; returns a function that unsubscribes. */
  subscribe(onChange: () => void): () => void;
}

/** Creates the connection tracker. Call this only once per page. */
export function createConnection(): Connection {
  const listeners = new Set<() => void>();
  let isReachable = true;
  const notify = () => listeners.forEach((listener) => listener());
  const setReachable = (next: boolean): void => {
    if (next === isReachable) return;
    isReachable = next;
    notify();
  };
  addEventListener('online', notify);
  addEventListener('offline', notify);
  return {
    current: () => (!navigator.onLine ? 'offline' : isReachable ? 'connected' : 'unreachable'),
    reportResponse: () => setReachable(true),
    reportFailure: () => setReachable(false),
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

export const useConnection = ({ subscribe, current }: Connection): State =>
  useSyncExternalStore(subscribe, current);

/** HTTP statuses from a proxy that can't reach the service. */
const unreachableStatuses = [502, 503, 504];

/**
 * Like `fetch`, but tracks whether the service is reachable. While the browser is offline, changes are rejected
 * immediately, so that they can't take effect unexpectedly later.
 *
 * @throws Error with a readable message when there is no response.
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
    if (unreachableStatuses.includes(response.status)) connection.reportFailure();
    else connection.reportResponse();
    return response;
  } catch (error) {
    // The caller has aborted the request, for example because the user opened another page.
    if (init.signal?.aborted === true) throw error;
    connection.reportFailure();
    throw new Error(
      isChange
        ? 'The service did not respond. Check whether the change was saved before you try again.'
        : 'The service is not responding.',
      { cause: error },
    );
  }
}
