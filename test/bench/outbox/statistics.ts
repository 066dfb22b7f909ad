/** Returns a percentile of the values, or undefined if there are no values. `share` is from 0 to 1. */
export function percentile(values: number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export const median = (values: number[]): number | undefined => percentile(values, 0.5);

/** Returns the arithmetic mean, or NaN if there are no values. */
export const mean = (values: number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export const ratio = (value: number | undefined, to: number | undefined): number | undefined =>
  value === undefined || to === undefined || to === 0 ? undefined : value / to;
