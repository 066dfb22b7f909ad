import { useState } from 'react';
import { AutocompleteArrayInput, type Validator } from 'react-admin';
import { useWatch } from 'react-hook-form';
import { usePlacementSearch } from './placement-search.ts';

interface Props {
  label: string;
  helperText?: string;
  validate?: Validator;
}

/** Placements by their names, as house ads and policies refer to them. */
export function PlacementsInput({ label, helperText, validate }: Props) {
  const [text, setText] = useState('');
  const chosen = useWatch<Record<string, string[] | undefined>>({ name: 'placements' }) ?? [];
  const found = usePlacementSearch(text).map(({ name }) => name);
  const names = [...new Set([...found, ...chosen])];
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
