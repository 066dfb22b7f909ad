import { Alert, Link } from '@mui/material';
import type { Creative, HouseAd, Placement } from '@trueward/protocol/wire';
import {
  AutocompleteInput,
  DataTable,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  required,
  SelectInput,
  TextInput,
  useGetList,
  useGetOne,
} from 'react-admin';
import { useWatch } from 'react-hook-form';
import { Link as RouterLink } from 'react-router';
import { AdvancedFields } from '../common/advanced-fields.tsx';
import { statusChoices } from '../common/choices.tsx';
import { NameColumn, wideOnly } from '../common/columns.tsx';
import { PlacementsInput } from '../common/placements-input.tsx';
import { CreatePage, EditPage, ListPage } from '../resource/resource-pages.tsx';
import { humanize, StatusChip } from '../common/status-chip.tsx';
import { TimeInput } from '../common/time.tsx';
import { NewCreative } from '../creative/new-creative.tsx';
import { CreativeSummary } from '../creative/thumbnail.tsx';
import { useServingProblems } from './use-serving.ts';
import { CreativePreview } from '../preview/creative-preview.tsx';

export const HouseAdList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="creative_id" label="Creative">
      <ReferenceField source="creative_id" reference="creatives" link={false}>
        <CreativeSummary />
      </ReferenceField>
    </DataTable.Col>
    <DataTable.Col
      {...wideOnly}
      label="Placements"
      render={({ placements }) => (placements as string[]).join(', ')}
    />
    <DataTable.NumberCol {...wideOnly} source="priority" label="Priority" />
    <DataTable.NumberCol {...wideOnly} source="weight" label="Weight" />
    <DataTable.Col
      source="status"
      label="Status"
      render={(houseAd) => <ServingStatus houseAd={houseAd as HouseAd} />}
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
    <HouseAdProblems />
    <TextInput source="name" label="Name" validate={required()} />
    <ReferenceInput source="creative_id" reference="creatives">
      <AutocompleteInput
        label="Creative"
        optionText={<CreativeSummary />}
        inputText={describeCreative}
        // The service has searched already.
        matchSuggestion={() => true}
        validate={required()}
        // After the dialog, the field has the focus again, but nothing to choose.
        openOnFocus={false}
        createLabel="New creative…"
        createItemLabel="New creative %{item}…"
        create={<NewCreative />}
      />
    </ReferenceInput>
    <PlacementsInput label="Placements" validate={required()} />
    <AdvancedFields title="Priority, dates and caps">
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
      <NumberInput
        source="daily_cap"
        label="Daily impression cap"
        helperText="Counts verified impressions from midnight UTC."
        min={1}
      />
    </AdvancedFields>
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
    <HouseAdPreview />
  </>
);

/** Whether a house ad is served: its phase, or the first reason why it isn't shown to players although it is running. */
function ServingStatus({ houseAd }: { houseAd: HouseAd }) {
  const [problem] = useServingProblems(houseAd);
  return (
    <span title={problem?.text}>
      <StatusChip status={problem?.state ?? houseAd.phase ?? houseAd.status} />
    </span>
  );
}

/** The reasons why the house ad, as edited in the form, isn't served. */
function HouseAdProblems() {
  const houseAd = useWatch() as Partial<HouseAd>;
  const problems = useServingProblems(houseAd);
  if (problems.length === 0) return null;
  return (
    <Alert severity="warning" sx={{ width: '100%', marginBottom: 2 }}>
      This house ad is not served.
      {problems.map(({ text }) => (
        <div key={text}>{text}</div>
      ))}
      <Link component={RouterLink} to="/review">
        Review queue
      </Link>
      {' · '}
      <Link component={RouterLink} to="/kill-switches">
        Kill switches
      </Link>
    </Alert>
  );
}

/** A creative's name, and its review state unless it is approved. Only approved creatives are shown to players. */
const describeCreative = ({ name, review }: Partial<Creative> = {}): string =>
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
    <CreativePreview
      title="Preview"
      creative={creative}
      reward={placement?.reward}
      format={placement?.format ?? 'interstitial'}
    />
  );
}
