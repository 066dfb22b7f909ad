declare global {
  interface Window {
    /** How many times the React game has called `createAds()`. */
    createAdsCalls: number;
    /** Describes the timers, and the listeners on the window and the document, that have not been removed. */
    listLeaks(): string[];
  }
}

/**
 * Tracks timers and listeners. Runs in the page before all other scripts. React's own listeners are on its root element,
 * so they are not tracked.
 */
export function countLeaks(): void {
  const remaining = new Map<unknown, string>();
  for (const [set, clear] of [
    ['setTimeout', 'clearTimeout'],
    ['setInterval', 'clearInterval'],
  ] as const) {
    const [begin, end] = [window[set].bind(window), window[clear].bind(window)];
    const wrapped = (handler: () => void, ms?: number): number => {
      const id: unknown = begin(() => {
        if (set === 'setTimeout') remaining.delete(id);
        handler();
      }, ms);
      remaining.set(id, `${set} ${ms}`);
      return id as number;
    };
    Object.assign(window, {
      [set]: wrapped,
      [clear](id: number) {
        remaining.delete(id);
        end(id);
      },
    });
  }
  for (const target of [window, document]) {
    const { addEventListener: add, removeEventListener: remove } = target;
    target.addEventListener = (
      type: string,
      listener: EventListener,
      options?: AddEventListenerOptions,
    ) => {
      const entry = { type, listener };
      remaining.set(entry, `listener ${type}`);
      options?.signal?.addEventListener('abort', () => remaining.delete(entry));
      add.call(target, type, listener, options);
    };
    target.removeEventListener = (type: string, listener: EventListener) => {
      for (const entry of remaining.keys()) {
        const candidate = entry as { type?: string; listener?: unknown };
        if (candidate.type === type && candidate.listener === listener) remaining.delete(entry);
      }
      remove.call(target, type, listener);
    };
  }
  window.listLeaks = () =>
    [...remaining.values()].filter((description) => description !== 'listener selectionchange');
}
