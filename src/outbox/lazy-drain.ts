import type { createDrain, Drain, DrainParts } from './drain.ts';

/** A {@link Drain} whose code is loaded once there is something to send, so that a game starts without it. */
export interface LazyDrain {
  /** Loads the code, so that the first event does not wait for it. */
  prefetch(): void;
  /** The drain; undefined until its code has loaded. */
  current(): Drain | undefined;
  /** Runs `work`, after loading the code if necessary; after a failed load, the next call retries. */
  use(work: (drain: Drain) => unknown): Promise<void>;
  stop(): void;
}

/** Makes the {@link LazyDrain}. */
export function lazyDrain(parts: DrainParts): LazyDrain {
  let drain: Drain | undefined;
  let loading: Promise<{ createDrain: typeof createDrain }> | undefined;
  let stopped = false;

  const load = (): Promise<{ createDrain: typeof createDrain }> => {
    loading ??= import('./drain.ts');
    return loading;
  };
  const use = async (work: (drain: Drain) => unknown): Promise<void> => {
    try {
      const { createDrain: create } = await load();
      if (stopped) return;
      drain ??= create(parts);
      await work(drain);
    } catch (error) {
      loading = undefined;
      parts.onError(error);
    }
  };

  return {
    prefetch: () => void use(() => undefined),
    current: () => drain,
    use,
    stop() {
      stopped = true;
      drain?.stop();
    },
  };
}
