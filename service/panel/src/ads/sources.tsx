import { Box } from '@mui/material';
import type { Report, Source } from '@trueward/protocol/wire';
import { lazy, Suspense } from 'react';
import {
  DataTable,
  FormDataConsumer,
  Loading,
  required,
  SelectInput,
  Show,
  TextInput,
  useRecordContext,
} from 'react-admin';
import { query } from '../api/resources.ts';
import { useRead } from '../api/use-call.ts';
import { statusChoices } from '../common/choices.tsx';
import { NameColumn, StatusColumn, wideOnly } from '../common/columns.tsx';
import {
  CreatePage,
  EditPage,
  Figures,
  ListPage,
  RecordCard,
} from '../resource/resource-pages.tsx';
import { ExternalSourceFields, PageSourceFields } from './external-source-fields.tsx';
import { toSource } from './source-values.ts';

export const SourceList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="kind" label="Kind" render={({ kind }) => getKindName(kind as string)} />
    <DataTable.Col
      {...wideOnly}
      label="Placements"
      render={({ placements = [] }) => (placements as string[]).join(', ')}
    />
    <DataTable.NumberCol {...wideOnly} source="priority" label="Priority" />
    <DataTable.Col {...wideOnly} label="Fill rate (24 h)">
      <SourceFillRate />
    </DataTable.Col>
    <StatusColumn source="status" label="Status" />
  </ListPage>
);

export const SourceCreate = () => (
  <CreatePage noun="source" transform={toSource}>
    <SourceFields isNew />
  </CreatePage>
);

export const SourceEdit = () => (
  <EditPage noun="source" transform={toSource} below={<SourceCards canTry />}>
    <SourceFields isNew={false} />
  </EditPage>
);

export const SourceShow = () => (
  <Show>
    <RecordCard />
    <SourceCards canTry={false} />
    <Figures />
  </Show>
);

/** Lazy-loaded, because most sessions never open a source whose ads are not the studio's own. */
const ExternalSourceCards = lazy(async () => ({
  default: (await import('./external-source-cards.tsx')).ExternalSourceCards,
}));
const SourceCallbackCard = lazy(async () => ({
  default: (await import('./source-callback.tsx')).SourceCallbackCard,
}));

function SourceCards({ canTry }: { canTry: boolean }) {
  const source = useRecordContext<Source>();
  if (!source || !(isExternal(source) || source.kind === 'page')) return null;
  return (
    <Suspense fallback={<Loading />}>
      {source.kind === 'page' ? (
        <Box sx={{ padding: 2 }}>
          <SourceCallbackCard source={source} />
        </Box>
      ) : (
        <ExternalSourceCards source={source} canTry={canTry} />
      )}
    </Suspense>
  );
}

const isExternal = ({ kind }: Pick<Source, 'kind'>): boolean =>
  kind === 'vast' || kind === 'openrtb';

const hourMs = 3_600_000;

/** The fill rate for the source in the current row. */
function SourceFillRate() {
  const source = useRecordContext<Source>();
  // Round the end up to the next full hour, so that all rows have the same query and share one request.
  const endMs = (Math.floor(Date.now() / hourMs) + 1) * hourMs;
  const { data } = useRead<Report>(
    query('/v1/reports', {
      from: new Date(endMs - 24 * hourMs).toISOString(),
      to: new Date(endMs).toISOString(),
      interval: 'day',
      group_by: 'source',
    }),
    { refetchInterval: 30_000 },
  );
  if (!source || !isExternal(source)) return null;
  const rows = data?.data.filter((row) => row.source === source.id) ?? [];
  const requests = rows.reduce((total, row) => total + row.source_requests, 0);
  const bids = rows.reduce((total, row) => total + row.source_bids, 0);
  return <>{requests === 0 ? '–' : `${Math.round((100 * bids) / requests)}% of ${requests}`}</>;
}

const kinds = [
  { id: 'house', name: 'House: your own ads' },
  { id: 'direct', name: 'Direct: ads that you upload for an advertiser' },
  { id: 'vast', name: 'VAST: a network’s ad tag' },
  { id: 'openrtb', name: 'OpenRTB: a bidder or Prebid Server' },
  { id: 'page', name: 'Page: Google’s H5 ads or another ad SDK in the game’s page' },
];
const getKindName = (kind: string): string =>
  (kinds.find(({ id }) => id === kind)?.name ?? kind).replace(/:.*/, '');

const SourceFields = ({ isNew }: { isNew: boolean }) => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <SelectInput
      source="kind"
      label="Kind"
      choices={kinds}
      validate={required()}
      readOnly={!isNew}
    />
    <FormDataConsumer>
      {({ formData: { kind, review } }) =>
        isExternal({ kind }) && (
          <ExternalSourceFields kind={kind} isReviewAutomatic={review === 'automatic'} />
        )
      }
    </FormDataConsumer>
    <FormDataConsumer>
      {({ formData: { kind } }) => kind === 'page' && <PageSourceFields />}
    </FormDataConsumer>
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
  </>
);
