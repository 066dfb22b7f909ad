import {
  DataTable,
  FormDataConsumer,
  NumberInput,
  required,
  SelectInput,
  TextInput,
} from 'react-admin';
import { statusChoices, choicesOf } from '../common/choices.tsx';
import { StatusColumn, NameColumn } from '../common/columns.tsx';
import { CreatePage, EditPage, ListPage } from '../common/resource-pages.tsx';

export const SourceList = () => (
  <ListPage>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="kind" label="Kind" />
    <StatusColumn source="status" label="Status" />
  </ListPage>
);

export const SourceCreate = () => (
  <CreatePage noun="source">
    <SourceFields isNew />
  </CreatePage>
);

export const SourceEdit = () => (
  <EditPage noun="source">
    <SourceFields isNew={false} />
  </EditPage>
);

const SourceFields = ({ isNew }: { isNew: boolean }) => (
  <>
    <TextInput source="name" label="Name" validate={required()} />
    <SelectInput
      source="kind"
      label="Kind"
      choices={choicesOf('house', 'direct', 'vast')}
      validate={required()}
      readOnly={!isNew}
    />
    <FormDataConsumer>
      {({ formData }) =>
        formData['kind'] === 'vast' && (
          <>
            <TextInput source="tag_url" type="url" label="VAST tag URL" validate={required()} />
            <NumberInput source="timeout_ms" label="Timeout (ms)" />
          </>
        )
      }
    </FormDataConsumer>
    <SelectInput source="status" label="Status" choices={statusChoices} defaultValue="active" />
  </>
);
