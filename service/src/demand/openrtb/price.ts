/*
 * Prices are integers: millionths of the currency per thousand impressions. Bidders send floating-point
 * numbers, which do not add up.
 */

/** 10,000 per thousand impressions: nobody pays that. A higher bid is a mistake, or bait. */
const maxMicros = 10_000_000_000;

/** A bid's price in micros; undefined when it is not a positive, plausible number. */
export function microsOf(cpm: unknown): number | undefined {
  if (typeof cpm !== 'number') return undefined;
  const micros = Math.round(cpm * 1_000_000);
  return micros > 0 && micros <= maxMicros ? micros : undefined;
}

/** Per thousand impressions, as OpenRTB writes it. */
export const cpmOf = (micros: number): number => micros / 1_000_000;

/** Without an exponent: `0.000001` rather than `1e-6`. */
export const formatCpm = (micros: number): string =>
  cpmOf(micros)
    .toFixed(6)
    .replace(/\.?0+$/, '');
