const firstMs = 1_000;
const longestMs = 300_000;

/**
 * How long to wait after `failures` failures in a row (1 or more), in milliseconds: full jitter, so
 * that many clients do not come back together, up to 1 s after the first and 5 min at most. A
 * `Retry-After` of the service is waited out before that.
 */
export const backOffMs = (failures: number, random: () => number, retryAfterMs = 0): number =>
  retryAfterMs + random() * Math.min(longestMs, firstMs * 2 ** (failures - 1));
