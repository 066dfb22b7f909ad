import { Card, CardContent } from '@mui/material';
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
  useRecordContext,
} from 'react-admin';
import { ListError } from './list-error.tsx';
import { useOpenAs } from './name-column.tsx';
import { RecordFacts } from './record-facts.tsx';

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
  /** What one of them is called: `house ad`. */
  noun: string;
  /** The fields. */
  children: ReactNode;
  /** Makes what is sent of what was filled in. */
  transform?(values: Record<string, unknown>): Record<string, unknown>;
}

interface EditPageProps extends FormPageProps {
  /** How it is taken out of use; by default it is archived. */
  ending?: Ending;
}

interface Ending {
  label: string;
  /** What becomes of it then. */
  effect: string;
}

const archiving: Ending = {
  label: 'Archive',
  effect: 'It is not used any more. Reports and the audit log keep it.',
};

const unchanged = (values: Record<string, unknown>) => values;

/** Makes one, and shows the list then. */
export function CreatePage({ noun, children, transform = unchanged }: FormPageProps) {
  return (
    <Create title={`New ${noun}`} redirect="list" transform={transform}>
      <SimpleForm warnWhenUnsavedChanges>{children}</SimpleForm>
    </Create>
  );
}

/**
 * When the record has changed elsewhere, what was typed stays; all else is as it is now. That a form was
 * saved stays as well: it may be left without a question.
 */
const keepTyped = { keepDirtyValues: true, keepIsSubmitSuccessful: true };

/** Changes one. Waits for the service: what is shown as saved is saved. */
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
        toolbar={<EditToolbar ending={ending} />}
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

/** Saves; archives, or what goes for it, after a question. */
export function EditToolbar({ ending: { label, effect } = archiving }: { ending?: Ending }) {
  return (
    <Toolbar sx={{ justifyContent: 'space-between' }}>
      <SaveButton />
      <DeleteWithConfirmButton
        label={label}
        confirmTitle={`${label} it?`}
        confirmContent={effect}
        confirmColor="warning"
        mutationMode="pessimistic"
      />
    </Toolbar>
  );
}

/** What who may not change it sees: all of it. */
export function ShowPage() {
  return (
    <Show>
      <ShownRecord />
    </Show>
  );
}

/** All members of the record that is shown. */
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
