import {
  AutocompleteInput,
  DataTable,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  required,
  SelectInput,
  TextInput,
} from 'react-admin';
import { statusChoices } from '../common/choices.ts';
import { StatusColumn } from '../common/columns.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import { NameColumn } from '../common/name-column.tsx';
import { CreatePage, EditPage, ListPage } from '../common/resource-pages.tsx';
import { TimeInput } from '../common/time-input.tsx';
import { HouseAdPreview } from './house-ad-preview.tsx';

export const HouseAdList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="creative_id" label="Creative">
      <ReferenceField source="creative_id" reference="creatives" link={false} />
    </DataTable.Col>
    <DataTable.Col
      label="Placements"
      render={({ placements }) => (placements as string[]).join(', ')}
    />
    <DataTable.NumberCol source="priority" label="Priority" />
    <DataTable.NumberCol source="weight" label="Weight" />
    <StatusColumn source="status" label="Status" />
  </ListPage>
);

export const HouseAdCreate = () => (
  <CreatePage noun="house ad">
    <HouseAdFields />
  </CreatePage>
);

export const HouseAdEdit = () => (
  <EditPage noun="house ad">
    <HouseAdFields />
  </EditPage>
);

const HouseAdFields = () => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <ReferenceInput source="creative_id" reference="creatives">
      <AutocompleteInput label="Creative" optionText="name" validate={required()} />
    </ReferenceInput>
    <PlacementsInput label="Placements" validate={required()} />
    <NumberInput
      source="priority"
      label="Priority"
      helperText="1 is the highest, 10 the lowest."
      defaultValue={5}
      min={1}
      max={10}
      validate={required()}
    />
    <NumberInput
      source="weight"
      label="Weight"
      helperText="Relative share among house ads with the same priority."
      defaultValue={1}
      min={1}
      max={1_000}
      validate={required()}
    />
    <TimeInput source="starts_at" label="Starts" />
    <TimeInput source="ends_at" label="Ends" />
    <NumberInput source="daily_cap" label="Daily impression cap (UTC)" />
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
    <HouseAdPreview />
  </>
);
