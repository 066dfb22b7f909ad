import { NameColumn, oneLine } from '../common/columns.tsx';
import { Box } from '@mui/material';
import { DataTable, required, TextInput } from 'react-admin';
import { CategoriesInput } from '../common/catalog-inputs.tsx';
import { getCategoryName } from '../common/catalogs.ts';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';

export const domainHelp = 'Without https://, for example meadow.example';

export const AdvertiserList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col
      source="domain"
      label="Domain"
      render={({ domain }) => (
        <Box title={domain as string} sx={{ ...oneLine, maxWidth: 240 }}>
          {domain as string}
        </Box>
      )}
    />
    <DataTable.Col
      label="Categories"
      render={({ categories }) => (categories as string[]).map(getCategoryName).join(', ') || '–'}
    />
  </ListPage>
);

export const AdvertiserCreate = () => (
  <CreatePage noun="advertiser">
    <AdvertiserFields />
  </CreatePage>
);

export const AdvertiserEdit = () => (
  <EditPage noun="advertiser">
    <AdvertiserFields />
  </EditPage>
);

export const AdvertiserFields = () => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <TextInput source="domain" label="Domain" helperText={domainHelp} validate={required()} />
    <CategoriesInput />
  </>
);
