const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time by the clock of whoever looks; the exact one, in UTC, on hover. */
export function TimeText({ time }: { time: string | undefined }) {
  if (time === undefined) return <>–</>;
  return (
    <time dateTime={time} title={time}>
      {format.format(new Date(time))}
    </time>
  );
}
