/*
 * Prices are stored as integers, in millionths of the currency per thousand impressions. Bidders send floating-point
 * numbers, but summing those would accumulate rounding errors.
 */

/** Maximum plausible price: 10,000 per thousand impressions. A higher bid is a mistake or fraud. */
const maxMicros = 10_000_000_000;

/** Converts a bid's price to micros. Returns undefined if the price is not a plausible positive number. */
export function toMicros(cpm: unknown): number | undefined {
  if (typeof cpm !== 'number') return undefined;
  const micros = Math.round(cpm * 1_000_000);
  return micros > 0 && micros <= maxMicros ? micros : undefined;
}

/** Converts micros to the price per thousand impressions that OpenRTB uses. */
export const toCpm = (micros: number): number => micros / 1_000_000;

/** Formats a price without an exponent: `0.000001` rather than `1e-6`. */
export const formatCpm = (micros: number): string =>
  toCpm(micros)
    .toFixed(6)
    .replace(/\.?0+$/, '');
