/** The service's time. Only this file and `steady-clock.ts` read the machine's clocks; see `docs/clocks.md`. */
export interface Clock {
  /** Unix milliseconds, for stored times and comparisons between processes. Never goes back while the process runs. */
  nowMs(): number;
  /** Milliseconds since an arbitrary point in time, for measuring durations. Never jumps. */
  monotonicMs(): number;
  /**
   * Measures the clock anew. Resolves with the most by which it can differ from the other processes' clocks, in
   * milliseconds. Absent from a clock that can't differ, as in tests.
   *
   * @throws Error when the clock can't be measured, because the database is unavailable.
   */
  confirm?(): Promise<number>;
}

/** Milliseconds since an arbitrary point in time, for measuring durations within this process. */
export const monotonicMs = (): number => performance.now();

/**
 * The machine's clock. It may be wrong and may jump, so its times must not be compared with times from elsewhere. The
 * service and its commands use `store/database-clock.ts`.
 */
export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs };

/** The period of a roll-up row. */
export const hourMs = 3_600_000;

/*
 * Parses and formats the times in requests, responses and files. A valid time has RFC 3339 format with seconds, a full
 * offset and up to nine fractional digits. It is in the years 2000 to 2100 and is not a leap second. `Date.parse` alone
 * is not enough, because it accepts other formats too. A schema validator is not enough either: it accepts leap
 * seconds, for which `Date.parse` returns `NaN`.
 */

const instantPattern =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const firstMs = Date.UTC(2000, 0);
const endMs = Date.UTC(2101, 0);

/** The error message for an invalid time, to be appended to a field name. */
export const instantRule =
  'must be a time such as 2026-11-22T10:00:00.000Z: RFC 3339 with an offset, no leap second, years 2000 to 2100';

/** Returns the time in Unix milliseconds, or undefined if the text is not a valid time. */
export function parseInstant(text: string): number | undefined {
  if (!instantPattern.test(text)) return undefined;
  // Rejects days such as February 30, which `Date.parse` rolls over to March 2.
  const day = Number(text.slice(8, 10));
  if (day > 28 && day > daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7))))
    return undefined;
  const ms = Date.parse(text);
  return ms >= firstMs && ms < endMs ? ms : undefined;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Parses a time that has already been validated.
 *
 * @throws RangeError when the text is not a valid time.
 */
export function requireInstant(text: string): number {
  const ms = parseInstant(text);
  if (ms === undefined) throw new RangeError(`${JSON.stringify(text)} is not a valid time.`);
  return ms;
}

/** A cache of formatted times. Under load, many requests arrive in the same millisecond. */
const formattedTimes = new Map<number, string>();
const maxFormattedTimes = 64;

/**
 * Formats Unix milliseconds in UTC, such as `2026-11-21T08:30:00.000Z`.
 *
 * @throws RangeError when `ms` is not a valid time.
 */
export function formatInstant(ms: number): string {
  let text = formattedTimes.get(ms);
  if (text === undefined) {
    text = new Date(ms).toISOString();
    if (formattedTimes.size === maxFormattedTimes) formattedTimes.clear();
    formattedTimes.set(ms, text);
  }
  return text;
}
