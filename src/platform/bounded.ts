import type { Clock } from './clock.ts';

/** Why bounded work has no result; `failed` when it rejected by itself. */
export type NoResult = 'timeout' | 'aborted' | 'failed';

/**
 * Runs `work` for `ms` milliseconds at most, or until `outer` aborts: its signal aborts then, and the
 * promise resolves at once, whether the work heeds that or not. Never rejects.
 */
export const bounded = <T extends object | boolean>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | NoResult> =>
  new Promise((resolve) => {
    const inner = new AbortController();
    const end = (result: T | NoResult): void => {
      cancelTimer();
      outer?.removeEventListener('abort', abort);
      resolve(result);
    };
    const stop = (why: NoResult): void => {
      end(why);
      inner.abort();
    };
    const abort = (): void => stop('aborted');
    const cancelTimer = clock.after(ms, () => stop('timeout'));
    outer?.addEventListener('abort', abort);
    if (outer?.aborted) abort();
    else work(inner.signal).then(end, () => end('failed'));
  });
