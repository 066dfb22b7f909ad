import { Alert, Card, CardContent } from '@mui/material';
import type { ReactElement, ReactNode } from 'react';
import {
  Create,
  DataTable,
  DeleteWithConfirmButton,
  Edit,
  List,
  SaveButton,
  SearchInput,
  Show,
  SimpleForm,
  Toolbar,
  useListContext,
  useRecordContext,
} from 'react-admin';
import { messageOf } from '../api/problem.ts';
import { useRowClick } from './columns.tsx';
import { RecordFacts } from './facts.tsx';

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

function RecordTable({ children }: { children: ReactNode }) {
  return (
    <DataTable bulkActionButtons={false} rowClick={useRowClick()}>
      {children}
    </DataTable>
  );
}

interface FormPageProps {
  /** The noun for messages: `house ad`. */
  noun: string;
  /** The fields. */
  children: ReactNode;
  /** Converts the form values to the request body. */
  transform?(values: Record<string, unknown>): Record<string, unknown>;
}

interface EditPageProps extends FormPageProps {
  /** How the object is removed; archived by default. */
  ending?: Removal;
  /** What follows the form. */
  below?: ReactNode;
}

interface Removal {
  label: string;
  /** The text of the confirmation. */
  effect: string;
}

const archival: Removal = {
  label: 'Archive',
  effect: 'It is no longer used, but stays in reports and the audit log.',
};

const unchanged = (values: Record<string, unknown>) => values;

/** Creates an object, then shows the list. */
export function CreatePage({ noun, children, transform = unchanged }: FormPageProps) {
  return (
    <Create title={`New ${noun}`} redirect="list" transform={transform}>
      <SimpleForm warnWhenUnsavedChanges>{children}</SimpleForm>
    </Create>
  );
}

/**
 * When the record changes elsewhere, edited fields keep their input and the others are updated. Leaving a saved
 * form needs no confirmation.
 */
const keepDirtyInput = { keepDirtyValues: true, keepIsSubmitSuccessful: true };

/** Edits an object. Not optimistic: a change shows as saved only after the service has saved it. */
export function EditPage({
  noun,
  children,
  transform = unchanged,
  ending = archival,
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
      <SimpleForm
        toolbar={<EditToolbar noun={noun} ending={ending} />}
        resetOptions={keepDirtyInput}
        warnWhenUnsavedChanges
      >
        {children}
      </SimpleForm>
      {below}
    </Edit>
  );
}

function RecordTitle({ noun }: { noun: string }) {
  const { name = '' } = useRecordContext<{ id: string; name?: string }>() ?? {};
  return <>{`${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${name}`}</>;
}

/** Save and archive buttons; archival asks for confirmation. */
export function EditToolbar({
  noun,
  ending: { label, effect } = archival,
}: {
  noun: string;
  ending?: Removal;
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

/** The read-only page, for users who cannot edit. */
export function ShowPage() {
  return (
    <Show>
      <RecordCard />
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

/** Why a list could not be loaded; earlier data stays visible below. */
export function ListError({ children }: { children: ReactNode }) {
  const { error, data } = useListContext();
  return (
    <>
      <Alert severity="error">Could not load the list. {messageOf(error)}</Alert>
      {data && data.length > 0 && children}
    </>
  );
}
