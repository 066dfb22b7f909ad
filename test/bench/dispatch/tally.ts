/** How many of a run's causes were lost or delivered more than once. */
export interface Tally {
  /** Number of causes without a delivery. */
  lost: number;
  /** Number of causes with more than one delivery. */
  duplicated: number;
  /** Number of deliveries that repeat an earlier delivery of the same cause. */
  repeats: number;
}

/** Counts lost and repeated deliveries. `counts` maps each cause to its number of deliveries. */
export function tally(causes: readonly string[], counts: Readonly<Record<string, number>>): Tally {
  const deliveries = causes.map((cause) => counts[cause] ?? 0);
  return {
    lost: deliveries.filter((count) => count === 0).length,
    duplicated: deliveries.filter((count) => count > 1).length,
    repeats: deliveries.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
  };
}
