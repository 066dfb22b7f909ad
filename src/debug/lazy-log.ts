import { surface } from '../platform/guard.ts';
import type { LogEntry } from './write-log.ts';

/** A console log whose code is loaded on demand. */
export type Log = (entry: LogEntry) => void;

export function lazyLog(): Log {
  const loading = import('./write-log.ts');
  loading.catch(() => surface(new Error('trueward: chunk_not_loaded: the code of the log')));
  // One promise chain, so that lines appear in the order of the events they describe.
  return (entry) =>
    void loading.then(
      ({ writeLog }) => writeLog(entry),
      () => undefined,
    );
}

/** Wraps `fetch` so that each request and its response is logged. */
export const loggedFetch =
  (fetch: typeof globalThis.fetch, log: Log): typeof globalThis.fetch =>
  (input, init) => {
    const answer = fetch(input, init);
    log({ about: 'request', input, init, answer });
    return answer;
  };
