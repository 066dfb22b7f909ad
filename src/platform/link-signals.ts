/**
 * A controller that any of these signals aborts as well; aborting it takes its listeners off them.
 * `AbortSignal.any` came to Safari with 17.4 only, and games run on older phones.
 */
export function linkSignals(...signals: (AbortSignal | undefined)[]): AbortController {
  const linked = new AbortController();
  for (const signal of signals) {
    signal?.addEventListener('abort', () => linked.abort(), { signal: linked.signal });
    if (signal?.aborted) linked.abort();
  }
  return linked;
}
