import { DateTimeInput, useStore } from 'react-admin';

/** The browser's time zone, such as `Europe/Berlin`. */
const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zones to choose from. Reports, caps and logs use UTC. */
export const timeZones: readonly string[] = [...new Set([browserZone, 'UTC'])];

/**
 * Returns the time zone for display and input, and a function to choose another. The choice is stored in the browser.
 */
export function useTimeZone(): [zone: string, choose: (zone: string) => void] {
  const [storedZone, choose] = useStore<string>('time-zone', browserZone);
  // The browser's time zone may have changed since the choice was stored.
  return [timeZones.includes(storedZone) ? storedZone : browserZone, choose];
}

/** Formats a time, such as `Nov 22, 2026, 2:03:05 PM GMT+1`. */
export const formatTime = (time: string | number | Date, timeZone: string): string =>
  new Intl.DateTimeFormat(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(new Date(time));

/** Formats a time as a `datetime-local` input's value, such as `2026-11-22T14:03`. */
export function toLocalInput(time: unknown, timeZone: string): string {
  // react-admin also formats values that are already formatted.
  if (typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(time)) return time;
  if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) return '';
  // The Swedish locale formats times almost exactly like ISO 8601.
  const text = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone,
  }).format(new Date(time));
  return text.replace(' ', 'T').slice(0, 16);
}

/** Parses a `datetime-local` input's value in one of the {@link timeZones}. */
export function fromLocalInput(text: string, timeZone: string): string | null {
  const date = new Date(timeZone === 'UTC' ? `${text}Z` : text);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** A time in the chosen time zone, with the exact UTC time on hover. */
export function TimeText({ time }: { time: string | undefined }) {
  const [zone] = useTimeZone();
  if (time === undefined) return <>–</>;
  return (
    <time dateTime={time} title={time}>
      {formatTime(time, zone)}
    </time>
  );
}

/** A sentence whose ISO 8601 times are shown in the chosen time zone. */
export const TextWithTimes = ({ text }: { text: string }) =>
  text
    .split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/)
    .map((part, index) => (index % 2 === 0 ? part : <TimeText key={part} time={part} />));

/** A time input in the chosen time zone. The label includes the zone. */
export function TimeInput({
  source,
  label,
}: {
  source: string;
  label: string;
  /** For filters. */
  alwaysOn?: boolean;
}) {
  const [zone] = useTimeZone();
  return (
    <DateTimeInput
      // Remount when the time zone changes, because the text would otherwise be stale.
      key={zone}
      source={source}
      label={`${label} (${zone})`}
      format={(time: unknown) => toLocalInput(time, zone)}
      parse={(text: string) => fromLocalInput(text, zone)}
    />
  );
}
