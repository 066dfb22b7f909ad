import { DataTable, required, TextInput } from 'react-admin';
import { CategoriesInput } from '../shared/categories-input.tsx';
import { CreatePage, EditPage, ListPage } from '../shared/resource-pages.tsx';

export const AdvertiserList = () => (
  <ListPage>
    <DataTable.Col source="name" label="Name" />
    <DataTable.Col source="domain" label="Domain" />
    <DataTable.Col
      label="Categories"
      render={({ categories }) => (categories as string[]).join(', ') || '–'}
    />
  </ListPage>
);

export const AdvertiserCreate = () => (
  <CreatePage>
    <AdvertiserFields />
  </CreatePage>
);

export const AdvertiserEdit = () => (
  <EditPage>
    <AdvertiserFields />
  </EditPage>
);

const AdvertiserFields = () => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <TextInput
      source="domain"
      label="Domain"
      helperText="Without https://, as meadow.example"
      validate={required()}
    />
    <CategoriesInput />
  </>
);
