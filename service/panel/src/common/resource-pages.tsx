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
import { useOpenAs } from './columns.tsx';
import { RecordFacts } from './facts.tsx';

const search = [<SearchInput key="q" source="q" alwaysOn aria-label="Search" />];

interface ListPageProps {
  /** The columns. */
  children: ReactNode;
  filters?: ReactElement[];
  sort?: { field: string; order: 'ASC' | 'DESC' };
  actions?: ReactElement | false;
}

/** A list that can be searched and sorted; a click on a row opens it. */
export function ListPage({ children, filters = search, sort, actions }: ListPageProps) {
  return (
    <List
      filters={filters}
      exporter={false}
      perPage={25}
      sort={sort ?? { field: 'name', order: 'ASC' }}
      error={
        <ListError>
          <OpeningTable>{children}</OpeningTable>
        </ListError>
      }
      {...(actions === undefined ? {} : { actions })}
    >
      <OpeningTable>{children}</OpeningTable>
    </List>
  );
}

function OpeningTable({ children }: { children: ReactNode }) {
  return (
    <DataTable bulkActionButtons={false} rowClick={useOpenAs()}>
      {children}
    </DataTable>
  );
}

interface FormPageProps {
  /** The noun in texts: `house ad`. */
  noun: string;
  /** The fields. */
  children: ReactNode;
  /** Converts the form values to the request body. */
  transform?(values: Record<string, unknown>): Record<string, unknown>;
}

interface EditPageProps extends FormPageProps {
  /** How an object is removed from use; archived by default. */
  ending?: Ending;
}

interface Ending {
  label: string;
  /** What the confirmation says about the effect. */
  effect: string;
}

const archiving: Ending = {
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
 * When the record has changed elsewhere, edited fields keep their input and the others are updated. A saved
 * form stays saved: leaving it asks no question.
 */
const keepTyped = { keepDirtyValues: true, keepIsSubmitSuccessful: true };

/** Edits an object. Waits for the service, so that only saved changes are shown as saved. */
export function EditPage({
  noun,
  children,
  transform = unchanged,
  ending = archiving,
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
        resetOptions={keepTyped}
        warnWhenUnsavedChanges
      >
        {children}
      </SimpleForm>
    </Edit>
  );
}

function RecordTitle({ noun }: { noun: string }) {
  const { name = '' } = useRecordContext<{ id: string; name?: string }>() ?? {};
  return <>{`${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${name}`}</>;
}

/** Save and archive buttons; archiving asks for confirmation. */
export function EditToolbar({
  noun,
  ending: { label, effect } = archiving,
}: {
  noun: string;
  ending?: Ending;
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

/** The read-only page, for users who may not edit. */
export function ShowPage() {
  return (
    <Show>
      <ShownRecord />
    </Show>
  );
}

/** All members of the current record. */
export function ShownRecord() {
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
