/** What became of the deliveries of a run. */
export interface Tally {
  /** Causes that nobody heard of. */
  lost: number;
  /** Causes that were delivered more than once. */
  doubled: number;
  /** Deliveries beyond the first of each cause. */
  repeats: number;
}

/** Compares what was to be delivered with how often each arrived. */
export function tally(causes: readonly string[], counts: Readonly<Record<string, number>>): Tally {
  const times = causes.map((cause) => counts[cause] ?? 0);
  return {
    lost: times.filter((count) => count === 0).length,
    doubled: times.filter((count) => count > 1).length,
    repeats: times.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  };
}
