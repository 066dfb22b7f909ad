const longestMs = 3_600_000;

/**
 * Reads a `Retry-After` header (RFC 9110 section 10.2.3: whole seconds or an HTTP date) as
 * milliseconds from `nowMs`, from 0 to one hour. Undefined when it is missing or no such value.
 */
export const parseRetryAfter = (value: string | null, nowMs: number): number | undefined => {
  const text = value?.trim() ?? '';
  // `Date.parse` also takes numbers and many other texts; an HTTP date begins with a day's name.
  const delayMs = /^\d+$/.test(text)
    ? Number(text) * 1_000
    : /^[A-Z][a-z]{2,8},? /.test(text)
      ? Date.parse(text) - nowMs
      : Number.NaN;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, 0), longestMs);
};
