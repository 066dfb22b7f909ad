import ArchiveIcon from '@mui/icons-material/Archive';
import PauseIcon from '@mui/icons-material/Pause';
import PlayArrowIcon from '@mui/icons-material/PlayArrow';
import { Alert, Card, CardContent, type Theme, ThemeProvider } from '@mui/material';
import { lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import {
  BulkDeleteButton,
  BulkUpdateButton,
  Create,
  DataTable,
  DeleteWithConfirmButton,
  Edit,
  List,
  Loading,
  SaveButton,
  SearchInput,
  Show,
  Toolbar,
  useListContext,
  useRecordContext,
  useRefresh,
  useResourceContext,
} from 'react-admin';
import { readMessage } from '../api/problem.ts';
import { useRowClick, wideOnly } from '../common/columns.tsx';
import { dimensions, makeSubject } from '../figures/figures.ts';
import { PanelForm } from '../common/panel-form.tsx';
import { RecordFacts } from '../common/facts.tsx';

const search = [<SearchInput key="q" source="q" alwaysOn aria-label="Search" />];

interface ListPageProps {
  /** The columns. */
  children: ReactNode;
  filters?: ReactElement[];
  sort?: { field: string; order: 'ASC' | 'DESC' };
  actions?: ReactElement | false;
}

/** A searchable, sortable list; clicking a row opens it. */
export function ListPage({ children, filters = search, sort, actions }: ListPageProps) {
  return (
    <List
      filters={filters}
      exporter={false}
      perPage={25}
      sort={sort ?? { field: 'name', order: 'ASC' }}
      error={
        <ListError>
          <RecordTable>{children}</RecordTable>
        </ListError>
      }
      {...(actions === undefined ? {} : { actions })}
    >
      <RecordTable>{children}</RecordTable>
    </List>
  );
}

const RecentImpressions = lazy(async () => ({
  default: (await import('../figures/recent-impressions.tsx')).RecentImpressions,
}));
const RecordFigures = lazy(async () => ({
  default: (await import('../figures/record-figures.tsx')).RecordFigures,
}));

/** Pauses, activates or archives the selected objects. */
function BulkActions() {
  const canPause = pausable.includes(useResourceContext() ?? '');
  // What follows from the status, such as the phase, comes from the service.
  const refetch = { onSettled: useRefresh() };
  return (
    <>
      {canPause && (
        <>
          <BulkUpdateButton
            label="Pause"
            icon={<PauseIcon />}
            data={{ status: 'paused' }}
            mutationOptions={refetch}
            confirmTitle="Pause the selected objects?"
            confirmContent="They have no effect until they are activated again."
            mutationMode="pessimistic"
          />
          <BulkUpdateButton
            label="Activate"
            icon={<PlayArrowIcon />}
            data={{ status: 'active' }}
            mutationOptions={refetch}
            confirmTitle="Activate the selected objects?"
            confirmContent="They take effect immediately."
            mutationMode="pessimistic"
          />
        </>
      )}
      <BulkDeleteButton
        label="Archive"
        icon={<ArchiveIcon />}
        confirmTitle="Archive the selected objects?"
        confirmContent={archiving.effects}
        confirmColor="warning"
        mutationMode="pessimistic"
      />
    </>
  );
}

/** The resources whose objects can be paused. */
const pausable: readonly string[] = ['placements', 'house-ads', 'sources', 'policies'];

/** The resources of which several objects can be archived together. */
const archivable: readonly string[] = [...pausable, 'creatives', 'advertisers', 'ad-rules'];

function RecordTable({ children }: { children: ReactNode }) {
  const rowClick = useRowClick();
  const hasBulkActions = archivable.includes(useResourceContext() ?? '');
  const hasFigures = dimensions[useResourceContext() ?? ''] !== undefined;
  const table = (
    <DataTable
      bulkActionButtons={rowClick === 'edit' && hasBulkActions && <BulkActions />}
      rowClick={rowClick}
    >
      {children}
      {hasFigures && (
        <DataTable.Col {...wideOnly} label="Impressions (7 days)" disableSort align="right">
          <Suspense fallback="…">
            <RecentImpressions />
          </Suspense>
        </DataTable.Col>
      )}
    </DataTable>
  );
  return <ThemeProvider theme={labelCheckboxes}>{table}</ThemeProvider>;
}

/** React-admin puts the label of a row's checkbox on an element that can't have one. */
const labelCheckboxes = (theme: Theme): Theme => ({
  ...theme,
  components: {
    ...theme.components,
    MuiCheckbox: {
      defaultProps: {
        slotProps: { root: { role: 'group' }, input: { 'aria-label': 'Select this row' } },
      },
    },
  },
});

/** The figures of the object on this page. Resources that aren't counted in reports have none. */
export function Figures() {
  const resource = useResourceContext() ?? '';
  const record = useRecordContext();
  const subject = record && makeSubject(resource, record);
  if (!subject) return null;
  return (
    <Suspense fallback={<Loading />}>
      <RecordFigures subject={subject} />
    </Suspense>
  );
}

interface FormPageProps {
  /** The noun for messages, such as `house ad`. */
  noun: string;
  /** The fields. */
  children: ReactNode;
  /** Converts the form values to the request body. */
  transform?(
    values: Record<string, unknown>,
  ): Record<string, unknown> | Promise<Record<string, unknown>>;
}

interface EditPageProps extends FormPageProps {
  /** How the object is removed. By default, it is archived. */
  removal?: Removal;
  /** Content below the form. */
  below?: ReactNode;
}

interface Removal {
  label: string;
  /** The confirmation dialog's text. */
  effect: string;
}

const archiving = {
  label: 'Archive',
  effect: 'It is no longer used but stays in reports and the audit log.',
  effects: 'They are no longer used but stay in reports and the audit log.',
};

const keepValues = (values: Record<string, unknown>) => values;

/** Creates an object, then shows the list. */
export function CreatePage({ noun, children, transform = keepValues }: FormPageProps) {
  return (
    <Create title={`New ${noun}`} redirect="list" transform={transform}>
      <PanelForm>{children}</PanelForm>
    </Create>
  );
}

/**
 * If the record changes elsewhere, edited fields keep the user's input, and the other fields are updated. Once the form
 * has been saved, the user can leave it without confirmation.
 */
const keepDirtyInput = { keepDirtyValues: true, keepIsSubmitSuccessful: true };

/** Edits an object. Updates are not optimistic: a change appears as saved only after the service has saved it. */
export function EditPage({
  noun,
  children,
  transform = keepValues,
  removal = archiving,
  below,
}: EditPageProps) {
  return (
    <Edit
      title={<RecordTitle noun={noun} />}
      actions={false}
      mutationMode="pessimistic"
      redirect="list"
      transform={transform}
    >
      <PanelForm
        toolbar={<EditToolbar noun={noun} removal={removal} />}
        resetOptions={keepDirtyInput}
      >
        {children}
      </PanelForm>
      {below}
      <Figures />
    </Edit>
  );
}

function RecordTitle({ noun }: { noun: string }) {
  const { name = '' } = useRecordContext<{ id: string; name?: string }>() ?? {};
  return <>{`${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${name}`}</>;
}

/** The buttons that save and remove an object. Removal requires confirmation. */
export function EditToolbar({
  noun,
  removal: { label, effect } = archiving,
}: {
  noun: string;
  removal?: Removal;
}) {
  return (
    <Toolbar sx={{ justifyContent: 'space-between' }}>
      <SaveButton />
      <DeleteWithConfirmButton
        label={label}
        confirmTitle={`${label} this ${noun}?`}
        confirmContent={effect}
        confirmColor="warning"
        mutationMode="pessimistic"
      />
    </Toolbar>
  );
}

/** A read-only page, for users who cannot edit. */
export function ShowPage() {
  return (
    <Show>
      <RecordCard />
      <Figures />
    </Show>
  );
}

/** All fields of the current record. */
export function RecordCard() {
  const record = useRecordContext();
  if (!record) return null;
  return (
    <Card variant="elevation" elevation={0}>
      <CardContent>
        <RecordFacts record={record} />
      </CardContent>
    </Card>
  );
}

/** Shows why a list could not be loaded, above previously loaded data. */
export function ListError({ children }: { children: ReactNode }) {
  const { error, data } = useListContext();
  return (
    <>
      <Alert severity="error">Could not load the list. {readMessage(error)}</Alert>
      {data && data.length > 0 && children}
    </>
  );
}
