import type { Placement } from '@trueward/protocol/wire';
import { useDeferredValue, useState } from 'react';
import { AutocompleteArrayInput, useGetList, type Validator } from 'react-admin';
import { useWatch } from 'react-hook-form';

interface Props {
  label: string;
  helperText?: string;
  validate?: Validator;
}

/** Selects placements. House ads and policies refer to placements by name. */
export function PlacementsInput({ label, helperText, validate }: Props) {
  const [text, setText] = useState('');
  const chosenNames = useWatch<Record<string, string[] | undefined>>({ name: 'placements' }) ?? [];
  const matches = usePlacementSearch(text).map(({ name }) => name);
  const names = [...new Set([...matches, ...chosenNames])];
  return (
    <AutocompleteArrayInput
      source="placements"
      label={label}
      choices={names.map((name) => ({ id: name, name }))}
      setFilter={setText}
      defaultValue={[]}
      {...(helperText === undefined ? {} : { helperText })}
      {...(validate === undefined ? {} : { validate })}
    />
  );
}

/** Returns the first placements, sorted by name, that match a search text. */
export function usePlacementSearch(text: string): Placement[] {
  const q = useDeferredValue(text);
  const { data = [] } = useGetList<Placement>(
    'placements',
    {
      filter: { q },
      pagination: { page: 1, perPage: 25 },
      sort: { field: 'name', order: 'ASC' },
    },
    { placeholderData: (before) => before },
  );
  return data;
}
