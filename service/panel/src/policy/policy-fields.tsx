import { Alert, Box, Typography } from '@mui/material';
import { useEffect } from 'react';
import {
  AutocompleteArrayInput,
  BooleanInput,
  NullableBooleanInput,
  ReferenceArrayInput,
  TextArrayInput,
} from 'react-admin';
import { useFormContext, useFormState, useWatch } from 'react-hook-form';
import { CategoriesInput, CountriesInput, LanguagesInput } from '../common/catalog-inputs.tsx';
import { deviceChoices, mediaFormatChoices } from '../common/choices.tsx';

/** Form fields that select the ads that a policy blocks. */
export const BlockFields = () => (
  <Box component="fieldset" sx={groupStyle}>
    <Typography component="legend" variant="h3">
      Block
    </Typography>
    <GroupError source="block" />
    <BooleanInput source="block.everything" label="All ads" />
    <ReferenceArrayInput source="block.advertisers" reference="advertisers">
      <AutocompleteArrayInput label="Advertisers" optionText="name" />
    </ReferenceArrayInput>
    <ReferenceArrayInput source="block.sources" reference="sources">
      <AutocompleteArrayInput label="Sources" optionText="name" />
    </ReferenceArrayInput>
    <TextArrayInput
      source="block.domains"
      label="Advertiser domains"
      helperText="Includes subdomains."
    />
    <CategoriesInput source="block.categories" />
    <AutocompleteArrayInput source="block.formats" label="Formats" choices={mediaFormatChoices} />
  </Box>
);

const hours = Array.from({ length: 24 }, (_value, hour) => ({ id: hour, name: `${hour}:00` }));

/** Form fields for the conditions under which a policy applies. */
export const ConditionFields = () => (
  <Box component="fieldset" sx={groupStyle}>
    <Typography component="legend" variant="h3">
      When
    </Typography>
    <Typography variant="body2" color="textSecondary">
      All conditions must match. Empty conditions always match.
    </Typography>
    <CountriesInput source="when.countries" />
    <LanguagesInput source="when.languages" />
    <AutocompleteArrayInput source="when.devices" label="Devices" choices={deviceChoices} />
    <NullableBooleanInput source="when.child_directed" label="Child-directed" nullLabel="Any" />
    <AutocompleteArrayInput source="when.hours" label="Hours of the day (UTC)" choices={hours} />
    <TextArrayInput
      source="when.segments"
      label="Player segments"
      helperText="As sent by the game in ad requests. Press Enter after each one."
    />
  </Box>
);

const groupStyle = {
  width: '100%',
  minWidth: 0,
  marginBlock: 1,
  border: 1,
  borderColor: 'divider',
  borderRadius: 1,
};

/** Shows a field group's error until one of the group's fields changes. */
function GroupError({ source }: { source: string }) {
  const { clearErrors } = useFormContext();
  const { errors } = useFormState({ name: source });
  const value: unknown = useWatch({ name: source });
  const text = JSON.stringify(value);
  useEffect(() => clearErrors(source), [clearErrors, source, text]);
  const message = errors[source]?.message;
  return typeof message === 'string' ? (
    <Alert severity="error" sx={{ marginBlock: 1 }}>
      {message}
    </Alert>
  ) : null;
}
