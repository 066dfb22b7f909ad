import { formatDuration } from './duration.ts';

/** The name of a group of fields, if the field is part of one: `per_s` limits a rate in `rate_limit`. */
type Group = string | undefined;

/** Milliseconds per unit, by the suffix of a field's name. */
const durations: Readonly<Record<string, number>> = { s: 1_000, ms: 1 };

const readSuffix = (name: string, group: Group): string | undefined =>
  group === 'rate_limit' ? undefined : /_(s|ms|micros)$/.exec(name)?.[1];

/** Returns a field's label, without the unit that its name ends with: `late_window_s` becomes `late window`. */
export function getFieldLabel(name: string, group?: Group): string {
  const suffix = readSuffix(name, group);
  const label = suffix === undefined ? name : name.slice(0, -suffix.length - 1);
  return label.replaceAll('_', ' ');
}

/**
 * Formats a number with the unit that its field's name ends with: 86400 in `late_window_s` is `24 h`, and 2500000 in
 * `cpm_micros` is `2.5`. Other numbers stay as they are.
 */
export function formatFieldNumber(name: string, value: number, group?: Group): string {
  const suffix = readSuffix(name, group);
  if (suffix === undefined) return String(value);
  const unitMs = durations[suffix];
  return unitMs === undefined ? String(value / 1_000_000) : formatDuration(value * unitMs);
}
