import { Box, Button, TextField } from '@mui/material';
import { useState } from 'react';
import { ChoiceField, makeChoices } from '../common/choices.tsx';
import { fromLocalInput, toLocalInput, useTimeZone } from '../common/time.tsx';

const names = ['player', 'placement', 'state', 'from', 'to'] as const;

/** What decisions are searched for. Times are ISO 8601. */
export type DecisionFilter = Partial<Record<(typeof names)[number], string>>;

const states = [
  { id: '', name: 'Any' },
  ...makeChoices('earned', 'pending', 'denied', 'expired', 'filled', 'no_fill', 'blocked'),
];

/** Reads the filter from a page's address. */
export const readFilter = (parameters: URLSearchParams): DecisionFilter =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = parameters.get(name)?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );

interface Props {
  filter: DecisionFilter;
  onChange(filter: DecisionFilter): void;
}

/** The form with which decisions are searched. */
export function DecisionFilters({ filter, onChange }: Props) {
  const [edited, setEdited] = useState(filter);
  const [zone] = useTimeZone();
  const set = (name: keyof DecisionFilter, value: string | null) =>
    setEdited({ ...edited, [name]: value ?? '' });
  return (
    <Box
      component="form"
      role="search"
      aria-label="Decisions"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(readFilter(new URLSearchParams(edited)));
      }}
      sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginBlock: 1, alignItems: 'center' }}
    >
      {(['player', 'placement'] as const).map((name) => (
        <TextField
          key={name}
          size="small"
          fullWidth={false}
          label={name === 'player' ? 'Player (user_ref)' : 'Placement'}
          value={edited[name] ?? ''}
          onChange={({ target }) => set(name, target.value)}
        />
      ))}
      <ChoiceField
        label="State"
        choices={states}
        value={edited.state ?? ''}
        onChange={(state) => set('state', state)}
      />
      {(['from', 'to'] as const).map((name) => (
        <TextField
          key={name}
          size="small"
          fullWidth={false}
          type="datetime-local"
          label={`${name === 'from' ? 'From' : 'To'} (${zone})`}
          value={toLocalInput(edited[name], zone)}
          onChange={({ target }) => set(name, fromLocalInput(target.value, zone))}
          slotProps={{ inputLabel: { shrink: true } }}
        />
      ))}
      <Button type="submit" variant="contained">
        Search
      </Button>
      {Object.keys(filter).length > 0 && <Button onClick={() => onChange({})}>Clear</Button>}
    </Box>
  );
}
