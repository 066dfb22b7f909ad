import { DateTimeInput, useStore } from 'react-admin';

/** The zone of this browser, as `Europe/Berlin`. */
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zones to choose from: reports, caps and logs go by UTC, people by their own clock. */
export const timeZones: readonly string[] = [...new Set([here, 'UTC'])];

/** The zone in which every time is shown and entered, and how to choose it; kept in this browser. */
export function useTimeZone(): [zone: string, choose: (zone: string) => void] {
  const [stored, choose] = useStore<string>('time-zone', here);
  // The computer may have moved since.
  return [timeZones.includes(stored) ? stored : here, choose];
}

/** `Nov 22, 2026, 2:03:05 PM GMT+1` */
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

/** A time as an input of the type `datetime-local` takes it: `2026-11-22T14:03`. */
function toLocalInput(time: unknown, timeZone: string): string {
  // react-admin formats once more what is formatted already.
  if (typeof time === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(time)) return time;
  if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) return '';
  // Swedish is written as ISO 8601.
  const text = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone,
  }).format(new Date(time));
  return text.replace(' ', 'T').slice(0, 16);
}

/** What such an input holds, as the time that it is in the zone: of {@link timeZones} one. */
function fromLocalInput(text: string, timeZone: string): string | null {
  const date = new Date(timeZone === 'UTC' ? `${text}Z` : text);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** A time in the zone that the user has chosen; the exact one, in UTC, on hover. */
export function TimeText({ time }: { time: string | undefined }) {
  const [zone] = useTimeZone();
  if (time === undefined) return <>–</>;
  return (
    <time dateTime={time} title={time}>
      {formatTime(time, zone)}
    </time>
  );
}

/** A time, entered in the zone that the user has chosen; the label says which one that is. */
export function TimeInput({ source, label }: { source: string; label: string }) {
  const [zone] = useTimeZone();
  return (
    <DateTimeInput
      // Its text is of the zone that it was made with.
      key={zone}
      source={source}
      label={`${label} (${zone})`}
      format={(time: unknown) => toLocalInput(time, zone)}
      parse={(text: string) => fromLocalInput(text, zone)}
    />
  );
}
