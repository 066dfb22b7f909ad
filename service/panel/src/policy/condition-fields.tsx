import { Box, Typography } from '@mui/material';
import { AutocompleteArrayInput, NullableBooleanInput, TextArrayInput } from 'react-admin';
import { deviceChoices } from '../common/choices.ts';

const hours = Array.from({ length: 24 }, (_value, hour) => ({ id: hour, name: `${hour}:00` }));

/** When a policy holds: every condition that is given must be true. */
export const ConditionFields = () => (
  <Box component="fieldset" sx={groupStyle}>
    <Typography component="legend" variant="h3">
      When
    </Typography>
    <Typography variant="body2" color="textSecondary">
      All conditions must match; empty always applies.
    </Typography>
    <TextArrayInput
      source="when.countries"
      label="Countries"
      helperText="Such as DE. Press Enter after each. Requires COUNTRY_HEADER, which sends the players’ countries."
    />
    <TextArrayInput source="when.languages" label="Languages" helperText="Such as pt or pt-BR." />
    <AutocompleteArrayInput source="when.devices" label="Devices" choices={deviceChoices} />
    <NullableBooleanInput
      source="when.child_directed"
      label="Directed at children"
      nullLabel="Any"
    />
    <AutocompleteArrayInput source="when.hours" label="Hours of the day, in UTC" choices={hours} />
    <TextArrayInput
      source="when.segments"
      label="Segments of players"
      helperText="As sent by the game in its ad requests."
    />
  </Box>
);

export const groupStyle = {
  width: '100%',
  minWidth: 0,
  marginBlock: 1,
  border: 1,
  borderColor: 'divider',
  borderRadius: 1,
};
