import { Alert, Link } from '@mui/material';
import type { Creative, Placement } from '@trueward/protocol/wire';
import {
  AutocompleteInput,
  DataTable,
  FunctionField,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  required,
  SelectInput,
  TextInput,
  useGetList,
  useGetOne,
  useReference,
} from 'react-admin';
import { useWatch } from 'react-hook-form';
import { Link as RouterLink } from 'react-router';
import { statusChoices } from '../common/choices.tsx';
import { NameColumn } from '../common/columns.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeInput } from '../common/time.tsx';
import { CreativePreview } from '../preview/creative-preview.tsx';

export const HouseAdList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="creative_id" label="Creative">
      <ReferenceField source="creative_id" reference="creatives" link={false}>
        <FunctionField render={describeCreative} />
      </ReferenceField>
    </DataTable.Col>
    <DataTable.Col
      label="Placements"
      render={({ placements }) => (placements as string[]).join(', ')}
    />
    <DataTable.NumberCol source="priority" label="Priority" />
    <DataTable.NumberCol source="weight" label="Weight" />
    <DataTable.Col
      source="status"
      label="Status"
      render={({ phase, creative_id: id }) => (
        <ServingStatus phase={phase as string} creativeId={id as string} />
      )}
    />
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
      <AutocompleteInput label="Creative" optionText={describeCreative} validate={required()} />
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
      helperText="Relative to other house ads with the same priority."
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

/** Whether a house ad is served: its phase, or why its creative isn't shown to players. */
function ServingStatus({ phase, creativeId }: { phase: string; creativeId: string }) {
  const { referenceRecord } = useReference<Creative>({ reference: 'creatives', id: creativeId });
  const review = referenceRecord?.review.status ?? 'approved';
  return <StatusChip status={phase === 'running' && review !== 'approved' ? review : phase} />;
}

/** A creative's name, and its review state unless it is approved. Only approved creatives are shown to players. */
const describeCreative = ({ name, review }: Partial<Creative>): string =>
  review === undefined || review.status === 'approved'
    ? (name ?? '')
    : `${name} (${humanize(review.status)})`;

/** Previews the house ad as edited in the form. */
function HouseAdPreview() {
  const creativeId = useWatch<Record<string, string | undefined>>({ name: 'creative_id' });
  const names = useWatch<Record<string, string[] | undefined>>({ name: 'placements' }) ?? [];
  const { data: creative } = useGetOne<Creative>(
    'creatives',
    { id: creativeId ?? '' },
    { enabled: Boolean(creativeId) },
  );
  const { data: placements = [] } = useGetList<Placement>(
    'placements',
    { filter: { name: names[0] }, pagination: { page: 1, perPage: 1 } },
    { enabled: names.length > 0 },
  );
  if (!creative) return null;
  const [placement] = placements;
  return (
    <>
      {creative.review.status !== 'approved' && (
        <Alert severity="warning">
          This house ad is not served, because its creative is {humanize(creative.review.status)}.{' '}
          <Link component={RouterLink} to="/review">
            Open the review queue
          </Link>
        </Alert>
      )}
      <CreativePreview
        title="Preview"
        creative={creative}
        reward={placement?.reward}
        format={placement?.format ?? 'interstitial'}
      />
    </>
  );
}
