/** A position in the media, as the ad server wrote it: a percentage needs the probed duration. */
export type TimeOffset = { ms: number } | { percent: number };

const clockTime = /^(?:(\d{1,2}):)?(\d{1,2}):([0-5]?\d)(?:\.(\d{1,9}))?$/;
const seconds = /^\d{1,5}(?:\.\d{1,9})?$/;

/**
 * `HH:MM:SS` or `HH:MM:SS.mmm` in milliseconds. `MM:SS` and plain seconds are read too, because servers
 * send them. Undefined for anything else.
 */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (seconds.test(text)) return Math.round(Number(text) * 1_000);
  const match = clockTime.exec(text);
  if (!match) return undefined;
  const [hours = '0', minutes = '0', wholeSeconds = '0', fraction = ''] = match.slice(1);
  const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(wholeSeconds);
  return total * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** A `skipoffset` or the `offset` of a progress event: a time, or a percentage from 0 to 100. */
export function parseOffset(text: string | undefined): TimeOffset | undefined {
  const percent = /^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(text ?? '')?.[1];
  if (percent !== undefined) {
    return Number(percent) <= 100 ? { percent: Number(percent) } : undefined;
  }
  const ms = parseDuration(text);
  return ms === undefined ? undefined : { ms };
}

/** An offset in milliseconds; undefined when it is a percentage of an unknown duration. */
export function offsetMs(offset: TimeOffset, durationMs: number | undefined): number | undefined {
  if ('ms' in offset) return offset.ms;
  return durationMs === undefined ? undefined : (offset.percent / 100) * durationMs;
}

/** `true` or `1`, `false` or `0`, in any case: the schema and the samples disagree about which. */
export function parseFlag(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(true|1)$/i.test(text)) return true;
  return /^(false|0)$/i.test(text) ? false : undefined;
}

/** A positive number; fractions are rounded down. */
export function parsePositive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return undefined;
  const value = Math.floor(Number(text));
  return value > 0 ? value : undefined;
}

/**
 * A name or an id on one line, cut at 200 characters. Undefined when empty. XML 1.1 allows control
 * characters, and the cut may fall between the halves of a surrogate pair: neither is stored.
 */
export function shortText(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, 200)
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return line === '' ? undefined : line;
}

/** Of `T`, with the members optional that may be undefined. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A copy without the members that are undefined: results are compared, and stored as JSON. */
export const withoutUndefined = <T extends object>(value: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== undefined),
  ) as Defined<T>;
