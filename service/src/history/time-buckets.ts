import { hourMs } from '../platform/time.ts';

/**
 * Whether a name is an IANA time zone, such as `Europe/Berlin` or `UTC`. Abbreviations are rejected, because `IST` is
 * Israel, India or Ireland. So are offsets such as `+05:30`, which have the opposite sign in POSIX.
 */
export function isTimeZone(name: string): boolean {
  if (!/^(UTC|[A-Za-z_]+(\/[A-Za-z0-9_+-]+)+)$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false; // a RangeError
  }
}

/**
 * Returns the start of each hour or local day in a period, as Unix milliseconds. The first one may be before the
 * period. Node's time zones are the only ones that the service uses: the database's may be of another year.
 */
export function listBuckets(
  { fromMs, toMs }: { fromMs: number; toMs: number },
  interval: 'hour' | 'day',
  timeZone: string,
): number[] {
  if (interval === 'hour')
    return Array.from(
      { length: Math.ceil((toMs - fromMs) / hourMs) },
      (_, i) => fromMs + i * hourMs,
    );
  const readDay = createDayReader(timeZone);
  const starts: number[] = [];
  let startMs = findDayStart(readDay, fromMs - maxDayMs, fromMs);
  while (startMs < toMs) {
    starts.push(startMs);
    // Almost every day has 24 hours. Formatting a time is slow.
    const [day, guessMs] = [readDay(startMs), startMs + 24 * hourMs];
    const isDay = readDay(guessMs) !== day && readDay(guessMs - minuteMs) === day;
    startMs = isDay ? guessMs : findDayStart(readDay, startMs, startMs + maxDayMs);
  }
  return starts;
}

/** No day is longer: clocks go back by three hours at most. The local day after 27 hours is another one. */
const maxDayMs = 27 * hourMs;
const minuteMs = 60_000;

/** Returns a function that returns the local day of a time as text. */
function createDayReader(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  return (ms) => format.format(ms);
}

/** Returns the first minute of the local day to which `lastMs` belongs. `firstMs` belongs to an earlier day. */
function findDayStart(readDay: (ms: number) => string, firstMs: number, lastMs: number): number {
  const day = readDay(lastMs);
  let [low, high] = [Math.floor(firstMs / minuteMs), Math.floor(lastMs / minuteMs)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (readDay(middle * minuteMs) === day) high = middle;
    else low = middle;
  }
  return high * minuteMs;
}
