/** Locks between the tabs of one origin. */
export interface Locks {
  /**
   * Waits for the lock, then calls `begin` in this tab alone. The function that it returns gives the
   * lock back, or stops waiting; it may be called twice. When a tab dies, the next one gets its lock.
   */
  acquire(name: string, begin: () => void): () => void;
}

/**
 * Web Locks. Where the browser has none (old ones, and pages without HTTPS), every tab gets the
 * lock: events are then sent twice at worst, and the service counts each id once.
 */
export const browserLocks = (
  manager: LockManager | undefined = globalThis.navigator?.locks,
): Locks => ({
  acquire(name, begin) {
    const waiting = new AbortController();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const granted = (): Promise<void> => {
      if (!waiting.signal.aborted) begin();
      return held;
    };
    const request =
      manager?.request(name, { signal: waiting.signal }, granted) ??
      Promise.resolve().then(granted);
    request.catch((error: unknown) => {
      // Stopping to wait is no failure; a document that may not lock (sandboxed) works as without locks.
      if (!waiting.signal.aborted) void granted();
      return error;
    });
    return () => {
      waiting.abort();
      release();
    };
  },
});
