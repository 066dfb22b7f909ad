/** Counts of what a page has done while idle. */
export interface WakeUps {
  timers: number;
  transactions: number;
  storageAccesses: number;
}

const counts: WakeUps = { timers: 0, transactions: 0, storageAccesses: 0 };

type Timer = (handler: TimerHandler, ms?: number, ...values: unknown[]) => number;

const countTimer =
  (original: Timer): Timer =>
  (handler, ms, ...values) =>
    original(() => {
      counts.timers += 1;
      if (typeof handler === 'function') Reflect.apply(handler, window, values);
    }, ms);

function countCalls(owner: object, method: string, name: 'transactions' | 'storageAccesses'): void {
  const original = Reflect.get(owner, method) as (...values: unknown[]) => unknown;
  Reflect.set(owner, method, function (this: unknown, ...values: unknown[]) {
    counts[name] += 1;
    return Reflect.apply(original, this, values);
  });
}

/** Starts counting. Must be called before a contender is loaded. */
export function countWakeUps(): void {
  Reflect.set(window, 'setTimeout', countTimer(window.setTimeout.bind(window) as Timer));
  Reflect.set(window, 'setInterval', countTimer(window.setInterval.bind(window) as Timer));
  countCalls(IDBDatabase.prototype, 'transaction', 'transactions');
  for (const method of ['getItem', 'setItem', 'removeItem'])
    countCalls(Storage.prototype, method, 'storageAccesses');
}

export const wakeUpsSoFar = (): WakeUps => ({ ...counts });
