/** A signal that several others abort; `unlink` takes its listeners off them again. */
export interface LinkedSignal {
  signal: AbortSignal;
  unlink(): void;
}

/** `AbortSignal.any` came to Safari with 17.4 only, and games run on older phones. */
export function linkSignals(...signals: (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of signals) {
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
  }
  return {
    signal: controller.signal,
    unlink() {
      for (const signal of signals) signal?.removeEventListener('abort', abort);
    },
  };
}
