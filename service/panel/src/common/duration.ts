/** Units with their length in milliseconds and the spellings that people use, largest first. */
const units: readonly { ms: number; names: readonly string[] }[] = [
  { ms: 604_800_000, names: ['week', 'weeks', 'w'] },
  { ms: 86_400_000, names: ['day', 'days', 'd'] },
  { ms: 3_600_000, names: ['h', 'hour', 'hours', 'hr', 'hrs'] },
  { ms: 60_000, names: ['min', 'minute', 'minutes', 'mins', 'm'] },
  { ms: 1_000, names: ['s', 'second', 'seconds', 'sec', 'secs'] },
  { ms: 1, names: ['ms', 'millisecond', 'milliseconds', 'msec'] },
];

const findUnit = (name: string): number | undefined =>
  units.find(({ names }) => names.includes(name.toLowerCase()))?.ms;

/**
 * Parses a duration as people write it, such as `30 s`, `1.5 h` or `1 h 30 min`. A number without a unit is not a
 * duration, because it is unclear which unit was meant; only `0` needs none.
 *
 * @returns milliseconds, or undefined if the text is not a duration
 */
export function parseDuration(text: string): number | undefined {
  const parts = text.trim();
  if (/^0+$/.test(parts)) return 0;
  if (!/^(?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*)+$/i.test(parts)) return undefined;
  let totalMs = 0;
  for (const [, count, name = ''] of parts.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const unitMs = findUnit(name);
    if (unitMs === undefined) return undefined;
    totalMs += Number(count) * unitMs;
  }
  return Math.round(totalMs);
}

/** Formats a duration exactly, in the largest unit that divides it: `500 ms`, `90 s`, `10 min`, `24 h`, `7 days`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms % 86_400_000 === 0 && ms > 86_400_000) return `${ms / 86_400_000} days`;
  const [size, name] = (
    [
      [3_600_000, 'h'],
      [60_000, 'min'],
      [1_000, 's'],
    ] as const
  ).find(([unitMs]) => ms % unitMs === 0) ?? [ms < 1_000 ? 1 : 1_000, ms < 1_000 ? 'ms' : 's'];
  return `${ms / size} ${name}`;
}

/** Formats an elapsed time roughly, in at most two units: `12.3 s`, `2 min 5 s`, `3 h 20 min`, `2 days 4 h`. */
export function formatElapsed(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const [size, smaller, name, smallerName] = (
    [
      [86_400_000, 3_600_000, 'days', 'h'],
      [3_600_000, 60_000, 'h', 'min'],
      [60_000, 1_000, 'min', 's'],
    ] as const
  ).find(([unitMs]) => ms >= unitMs) ?? [60_000, 1_000, 'min', 's'];
  const count = Math.floor(ms / size);
  const rest = Math.floor((ms % size) / smaller);
  const text = `${count} ${name === 'days' && count === 1 ? 'day' : name}`;
  return rest === 0 ? text : `${text} ${rest} ${smallerName}`;
}
