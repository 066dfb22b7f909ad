import { DateTimeInput } from 'react-admin';
import { fromLocalInput, toLocalInput, useTimeZone } from './time-zone.ts';

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
