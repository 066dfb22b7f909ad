import { surface } from '../platform/guard.ts';
import type { LogEntry } from './write-log.ts';

/** Writes to the console, by code that is loaded for it. */
export type Log = (entry: LogEntry) => void;

export function lazyLog(): Log {
  const loading = import('./write-log.ts');
  loading.catch(() => surface(new Error('trueward: chunk_not_loaded: the code of the log')));
  // One promise for all, so that lines come in the order of what they are about.
  return (entry) =>
    void loading.then(
      ({ writeLog }) => writeLog(entry),
      () => undefined,
    );
}

/** The same requests, each written to the log with its answer. */
export const loggedFetch =
  (fetch: typeof globalThis.fetch, log: Log): typeof globalThis.fetch =>
  (input, init) => {
    const answer = fetch(input, init);
    log({ about: 'request', input, init, answer });
    return answer;
  };
