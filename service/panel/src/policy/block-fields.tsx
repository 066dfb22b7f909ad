import { Box, Typography } from '@mui/material';
import {
  AutocompleteArrayInput,
  BooleanInput,
  ReferenceArrayInput,
  TextArrayInput,
} from 'react-admin';
import { mediaFormatChoices } from '../common/choices.ts';
import { GroupError } from '../common/group-error.tsx';
import { groupStyle } from './condition-fields.tsx';

/** What a policy blocks. */
export const BlockFields = () => (
  <Box component="fieldset" sx={groupStyle}>
    <Typography component="legend" variant="h3">
      Block
    </Typography>
    <GroupError source="block" />
    <BooleanInput source="block.everything" label="Every ad" />
    <ReferenceArrayInput source="block.advertisers" reference="advertisers">
      <AutocompleteArrayInput label="Advertisers" optionText="name" />
    </ReferenceArrayInput>
    <ReferenceArrayInput source="block.sources" reference="sources">
      <AutocompleteArrayInput label="Sources" optionText="name" />
    </ReferenceArrayInput>
    <TextArrayInput
      source="block.domains"
      label="Domains of advertisers"
      helperText="Includes subdomains."
    />
    <TextArrayInput source="block.categories" label="Categories" />
    <AutocompleteArrayInput source="block.formats" label="Formats" choices={mediaFormatChoices} />
  </Box>
);
