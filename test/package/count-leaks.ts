declare global {
  interface Window {
    /** How often the React game has called `createAds()`. */
    made: number;
    /** Timers, and listeners of window and document, that have not been removed. */
    left(): string[];
  }
}

/** Runs in the page before anything else. React's own listeners are on its root element and remain. */
export function countLeaks(): void {
  const left = new Map<unknown, string>();
  for (const [set, clear] of [
    ['setTimeout', 'clearTimeout'],
    ['setInterval', 'clearInterval'],
  ] as const) {
    const [begin, end] = [window[set].bind(window), window[clear].bind(window)];
    const wrapped = (handler: () => void, ms?: number): number => {
      const id: unknown = begin(() => {
        if (set === 'setTimeout') left.delete(id);
        handler();
      }, ms);
      left.set(id, `${set} ${ms}`);
      return id as number;
    };
    Object.assign(window, {
      [set]: wrapped,
      [clear](id: number) {
        left.delete(id);
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
      left.set(entry, `listener ${type}`);
      options?.signal?.addEventListener('abort', () => left.delete(entry));
      add.call(target, type, listener, options);
    };
    target.removeEventListener = (type: string, listener: EventListener) => {
      for (const entry of left.keys()) {
        const known = entry as { type?: string; listener?: unknown };
        if (known.type === type && known.listener === listener) left.delete(entry);
      }
      remove.call(target, type, listener);
    };
  }
  window.left = () => [...left.values()].filter((what) => what !== 'listener selectionchange');
}
