import { useSyncExternalStore } from 'react';

type State = 'connected' | 'offline' | 'unreachable';

/** Whether the service can be reached, as the browser and the latest requests say. */
export interface Connection {
  current(): State;
  /** A request was answered. */
  answered(): void;
  /** A request was not answered, or only by something between the panel and the service. */
  failed(): void;
  /** Calls back after each change; hands back how to stop that. */
  subscribe(onChange: () => void): () => void;
}

/** Lives as long as the page. */
export function createConnection(): Connection {
  const listeners = new Set<() => void>();
  let isReachable = true;
  const tell = () => listeners.forEach((listener) => listener());
  const set = (next: boolean): void => {
    if (next === isReachable) return;
    isReachable = next;
    tell();
  };
  addEventListener('online', tell);
  addEventListener('offline', tell);
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
 * `fetch` that notes whether the service was reached. Offline, a change is refused at once: none may
 * wait and be made later, when nobody expects it any more.
 *
 * @throws Error with a message for people when nothing answered.
 */
export async function fetchNoting(
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
    // Whoever asked has changed their mind, for example by leaving the page.
    if (init.signal?.aborted === true) throw error;
    connection.failed();
    throw new Error(
      isChange
        ? 'The service did not answer. Check whether the change was made before you repeat it.'
        : 'The service does not answer.',
      { cause: error },
    );
  }
}
