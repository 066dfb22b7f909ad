import { formatTime, useTimeZone } from './time-zone.ts';

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
