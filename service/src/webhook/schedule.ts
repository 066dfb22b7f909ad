/** Seconds after the attempt before; the first is at once. */
const delaysS = [0, 5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 86_400];

/** So many attempts are made. */
export const maxAttempts = delaysS.length;

/**
 * How long to wait, in milliseconds, before the next attempt when `attempts` have failed; undefined
 * when that was the last. ±20 % keeps receivers that failed together from being asked together.
 *
 * @param random - from 0 to below 1
 */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const delayS = delaysS[attempts];
  return delayS === undefined ? undefined : Math.round(delayS * 1_000 * (0.8 + 0.4 * random));
}
