/** A playback position in an ad. A percentage can be converted to a time only after the media has been probed. */
export type TimeOffset = { ms: number } | { percent: number };

const clockTimePattern = /^(?:(\d{1,2}):)?(\d{1,2}):([0-5]?\d)(?:\.(\d{1,9}))?$/;
const secondsPattern = /^\d{1,5}(?:\.\d{1,9})?$/;

/**
 * Parses `HH:MM:SS` or `HH:MM:SS.mmm` into milliseconds. Also accepts `MM:SS` and plain seconds, because servers send
 * them. Returns undefined for other formats.
 */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (secondsPattern.test(text)) return Math.round(Number(text) * 1_000);
  const match = clockTimePattern.exec(text);
  if (!match) return undefined;
  const [hours = '0', minutes = '0', wholeSeconds = '0', fraction = ''] = match.slice(1);
  const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(wholeSeconds);
  return total * 1_000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** Parses a `skipoffset`, or the `offset` of a progress event: a time, or a percentage from 0 to 100. */
export function parseOffset(text: string | undefined): TimeOffset | undefined {
  const percent = /^(\d{1,3}(?:\.\d{1,9})?)%$/.exec(text ?? '')?.[1];
  if (percent !== undefined) {
    return Number(percent) <= 100 ? { percent: Number(percent) } : undefined;
  }
  const ms = parseDuration(text);
  return ms === undefined ? undefined : { ms };
}

/** Converts an offset to milliseconds. Returns undefined for a percentage if the duration is unknown. */
export function toOffsetMs(offset: TimeOffset, durationMs: number | undefined): number | undefined {
  if ('ms' in offset) return offset.ms;
  return durationMs === undefined ? undefined : (offset.percent / 100) * durationMs;
}

/** Parses `true`, `1`, `false` or `0`, ignoring case. The VAST schema and the official samples use different forms. */
export function parseFlag(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (/^(true|1)$/i.test(text)) return true;
  return /^(false|0)$/i.test(text) ? false : undefined;
}

/** Parses a positive number and rounds it down. Returns undefined if the text is not a positive number. */
export function parsePositive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return undefined;
  const value = Math.floor(Number(text));
  return value > 0 ? value : undefined;
}

/**
 * Normalizes a name or id to a single line of at most 200 characters. Returns undefined if the line is empty. Replaces
 * control characters (allowed in XML 1.1) and unpaired surrogates (which truncation can leave behind) with spaces.
 */
export function shortText(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, 200)
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim();
  return line === '' ? undefined : line;
}

/** Turns each property of `T` that may be undefined into an optional property. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * Copies an object without its undefined properties. Results are compared and stored as JSON, which has no undefined
 * values.
 */
export function withoutUndefined<T extends object>(value: T): Defined<T> {
  const result: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(value))
    if (property !== undefined) result[name] = property;
  return result as Defined<T>;
}
