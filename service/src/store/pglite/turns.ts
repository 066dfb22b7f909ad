/** The kinds of work, the most urgent first. */
const priorities = ['serving', 'reads', 'background'] as const;
export type Priority = (typeof priorities)[number];

/** How long work waits for more urgent work before it gets a turn. */
const patienceMs = 1_000;

interface Waiter {
  sinceMs: number;
  start(): void;
}

/**
 * Runs one piece of work at a time, the most urgent first. What has waited for a second gets every other turn, so that
 * a busy service still folds its roll-ups.
 */
export function createTurns(nowMs: () => number): {
  take<T>(priority: Priority, work: () => Promise<T>): Promise<T>;
} {
  const queues: Record<Priority, Waiter[]> = { serving: [], reads: [], background: [] };
  let isBusy = false;
  let wasOverdue = false;

  const takeNext = (): Waiter | undefined => {
    const waiting = priorities.filter((priority) => queues[priority].length > 0);
    const overdue = waiting
      .slice(1)
      .toSorted((a, b) => (queues[a][0]?.sinceMs ?? 0) - (queues[b][0]?.sinceMs ?? 0))
      .find((priority) => nowMs() - (queues[priority][0]?.sinceMs ?? 0) >= patienceMs);
    const isOverdueTurn = overdue !== undefined && !wasOverdue;
    wasOverdue = isOverdueTurn;
    const next = isOverdueTurn ? overdue : waiting[0];
    return next === undefined ? undefined : queues[next].shift();
  };
  const startNext = (): void => {
    if (isBusy) return;
    const next = takeNext();
    if (!next) return;
    isBusy = true;
    next.start();
  };

  return {
    async take(priority, work) {
      await new Promise<void>((start) => {
        queues[priority].push({ sinceMs: nowMs(), start });
        startNext();
      });
      try {
        return await work();
      } finally {
        isBusy = false;
        startNext();
      }
    },
  };
}
