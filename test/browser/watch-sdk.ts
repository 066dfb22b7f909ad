import { native } from '../../src/platform/native.ts';

/** What the SDK has left running, and what it does. */
export interface SdkWatch {
  /** Describes its timers, frames and listeners that have neither run nor been removed. */
  running(): string[];
  /** Describes what it has done since {@link SdkWatch.clear}. */
  actions(): string[];
  act(what: string): void;
  clear(): void;
  end(): void;
}

/** Watches everything that the SDK starts from now on. All of it goes through {@link native}. */
export function watchSdk(): SdkWatch {
  const original = { ...native };
  const running = new Map<unknown, string>();
  let actions: string[] = [];
  const act = (what: string): void => void actions.push(what);

  const watchCalls = (
    set: 'setTimeout' | 'setInterval' | 'requestAnimationFrame',
    clear: 'clearTimeout' | 'clearInterval' | 'cancelAnimationFrame',
  ): void => {
    const start = original[set] as (callback: (...args: unknown[]) => void, ms?: number) => number;
    const stop = original[clear] as (id: number) => void;
    Object.assign(native, {
      [set](callback: (...args: unknown[]) => void, ms?: number) {
        const id = start((...args) => {
          if (set !== 'setInterval') running.delete(`${set} ${id}`);
          callback(...args);
        }, ms);
        running.set(`${set} ${id}`, `${set} ${ms ?? ''}`);
        act(set);
        return id;
      },
      [clear](id: number) {
        running.delete(`${set} ${id}`);
        stop(id);
      },
    });
  };
  watchCalls('setTimeout', 'clearTimeout');
  watchCalls('setInterval', 'clearInterval');
  watchCalls('requestAnimationFrame', 'cancelAnimationFrame');

  /** Numbers objects, so that they can be part of a key. */
  const numbers = new Map<unknown, number>();
  const numberOf = (object: unknown): number => {
    const number = numbers.get(object) ?? numbers.size;
    numbers.set(object, number);
    return number;
  };
  const keyOf = (
    target: EventTarget,
    type: string,
    listener: unknown,
    options: unknown,
  ): string => {
    const capture =
      typeof options === 'object' ? (options as AddEventListenerOptions | null)?.capture : options;
    return [numberOf(target), type, numberOf(listener), Boolean(capture)].join();
  };
  Object.assign(native, {
    addEventListener(
      this: EventTarget,
      type: string,
      listener: (event: Event) => void,
      options?: AddEventListenerOptions,
    ) {
      const key = keyOf(this, type, listener, options);
      const forget = (): void => void running.delete(key);
      if (!options?.signal?.aborted) running.set(key, `${describe(this)} ${type}`);
      if (options?.once) original.addEventListener.call(this, type, forget, options);
      if (options?.signal) original.addEventListener.call(options.signal, 'abort', forget);
      // A signal aborts once.
      if (this instanceof AbortSignal) original.addEventListener.call(this, 'abort', forget);
      original.addEventListener.call(this, type, listener, options);
    },
    removeEventListener(
      this: EventTarget,
      type: string,
      listener: (event: Event) => void,
      options?: EventListenerOptions,
    ) {
      running.delete(keyOf(this, type, listener, options));
      original.removeEventListener.call(this, type, listener, options);
    },
  });

  // Closing a channel ends its listeners.
  const { close } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.close = function forgetListeners() {
    for (const key of running.keys())
      if (String(key).startsWith(`${numberOf(this)},`)) running.delete(key);
    close.call(this);
  };
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = function watchItem(key, value) {
    act(`stored ${key}`);
    setItem.call(this, key, value);
  };

  return {
    running: () => [...running.values()],
    actions: () => actions,
    act,
    clear: () => (actions = []),
    end() {
      Object.assign(native, original);
      Storage.prototype.setItem = setItem;
      BroadcastChannel.prototype.close = close;
    },
  };
}

const describe = (target: EventTarget): string =>
  Object.prototype.toString.call(target).slice('[object '.length, -1);
