import { DataTable, required, SelectInput, TextInput } from 'react-admin';
import { statusChoices } from '../common/choices.tsx';
import { NameColumn, StatusColumn, wideOnly } from '../common/columns.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { humanize } from '../common/status-chip.tsx';
import { BlockFields, ConditionFields } from './policy-fields.tsx';
import { toPolicy } from './describe-policy.ts';
import { PolicyText, PolicySentence } from './policy-sentence.tsx';
import { TryPolicy } from './try-request.tsx';

const kinds = [
  { id: 'policy', name: 'Policy: content you may not show' },
  { id: 'commercial', name: 'Commercial: contractual exclusions' },
  { id: 'brand_safety', name: 'Brand safety: placements an advertiser avoids' },
];

export const PolicyList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col label="Rule">
      <PolicyText />
    </DataTable.Col>
    <DataTable.Col
      {...wideOnly}
      source="kind"
      label="Kind"
      render={({ kind }) => humanize(kind as string)}
    />
    <StatusColumn source="status" label="Status" />
  </ListPage>
);

export const PolicyCreate = () => (
  <CreatePage noun="policy" transform={toPolicy}>
    <PolicyFields />
  </CreatePage>
);

export const PolicyEdit = () => (
  <EditPage noun="policy" transform={toPolicy}>
    <PolicyFields />
  </EditPage>
);

const PolicyFields = () => (
  <>
    <PolicySentence />
    <TextInput source="name" label="Name" validate={required()} />
    <SelectInput
      source="kind"
      label="Kind"
      choices={kinds}
      defaultValue="policy"
      validate={required()}
    />
    <PlacementsInput label="Placements" helperText="Leave empty for all placements." />
    <ConditionFields />
    <BlockFields />
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
    <TryPolicy />
  </>
);
