/** The outcome of a run's deliveries. */
export interface Tally {
  /** Causes without a delivery. */
  lost: number;
  /** Causes with more than one delivery. */
  duplicated: number;
  /** Deliveries beyond the first of each cause. */
  repeats: number;
}

/** Compares the expected causes with the number of deliveries of each. */
export function tally(causes: readonly string[], counts: Readonly<Record<string, number>>): Tally {
  const times = causes.map((cause) => counts[cause] ?? 0);
  return {
    lost: times.filter((count) => count === 0).length,
    duplicated: times.filter((count) => count > 1).length,
    repeats: times.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  };
}
