/** The outcomes of a run's deliveries. */
export interface Tally {
  /** Number of causes without a delivery. */
  lost: number;
  /** Number of causes with more than one delivery. */
  duplicated: number;
  /** Number of deliveries that repeat an earlier delivery of the same cause. */
  repeats: number;
}

/** Counts lost and repeated deliveries. `counts` has the number of deliveries for each cause. */
export function tally(causes: readonly string[], counts: Readonly<Record<string, number>>): Tally {
  const times = causes.map((cause) => counts[cause] ?? 0);
  return {
    lost: times.filter((count) => count === 0).length,
    duplicated: times.filter((count) => count > 1).length,
    repeats: times.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  };
}
