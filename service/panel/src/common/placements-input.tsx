import { AutocompleteArrayInput, useGetList, type Validator } from 'react-admin';

interface Props {
  label: string;
  helperText?: string;
  validate?: Validator;
}

/** Placements by their names, as house ads and policies refer to them. */
export function PlacementsInput({ label, helperText, validate }: Props) {
  const choices = usePlacementNames();
  return (
    <AutocompleteArrayInput
      source="placements"
      label={label}
      choices={choices.map((name) => ({ id: name, name }))}
      defaultValue={[]}
      {...(helperText === undefined ? {} : { helperText })}
      {...(validate === undefined ? {} : { validate })}
    />
  );
}

/** The names of all placements. */
export function usePlacementNames(): string[] {
  const { data = [] } = useGetList<{ id: string; name: string }>('placements', {
    pagination: { page: 1, perPage: 1_000 },
    sort: { field: 'name', order: 'ASC' },
  });
  return data.map(({ name }) => name);
}
