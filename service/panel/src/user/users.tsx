import { useState } from 'react';
import {
  Create,
  DataTable,
  email,
  required,
  SelectInput,
  SimpleForm,
  TextInput,
  useRedirect,
} from 'react-admin';
import { roles } from '../session/roles.ts';
import { NameColumn } from '../common/name-column.tsx';
import { EditPage, ListPage } from '../common/resource-pages.tsx';
import { ShownOnce } from '../common/shown-once.tsx';
import { TimeText } from '../common/time-text.tsx';
import { linkAdvice } from './link-advice.ts';
import { NewLink } from './new-link.tsx';

const roleChoices = roles.map(({ id, name, may }) => ({ id, name: `${name}: ${may}` }));

export const UserList = () => (
  <ListPage sort={{ field: 'email', order: 'ASC' }}>
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="email" label="E-mail" />
    <DataTable.Col source="role" label="Role" />
    <DataTable.Col
      label="One-time codes"
      render={(user) => (user['code_enabled'] === true ? 'on' : 'off')}
    />
    <DataTable.Col
      source="last_sign_in_at"
      label="Last signed in"
      render={(user) =>
        user['invited'] === true ? 'invited, not yet' : <TimeText time={user['last_sign_in_at']} />
      }
    />
  </ListPage>
);

/** The link is shown once; whoever gets it chooses a password by it. */
export function UserCreate() {
  const redirect = useRedirect();
  const [link, setLink] = useState<string>();
  return (
    <>
      <Create
        title="New user"
        mutationOptions={{
          onSuccess: (made: { id: string; invite_url?: string }) => setLink(made.invite_url),
        }}
      >
        <SimpleForm warnWhenUnsavedChanges>
          <UserFields isNew />
        </SimpleForm>
      </Create>
      <ShownOnce
        text={link}
        title="The invitation"
        advice={linkAdvice}
        onClose={() => redirect('list', 'users')}
      />
    </>
  );
}

const removing = {
  label: 'Remove',
  effect: 'Their sessions end at once. The audit log keeps their e-mail address.',
};

export const UserEdit = () => (
  <EditPage noun="user" ending={removing}>
    <UserFields isNew={false} />
    <NewLink />
  </EditPage>
);

const UserFields = ({ isNew }: { isNew: boolean }) => (
  <>
    <TextInput
      source="email"
      type="email"
      label="E-mail"
      validate={[required(), email()]}
      readOnly={!isNew}
    />
    <TextInput source="name" label="Name" validate={required()} />
    <SelectInput source="role" label="Role" choices={roleChoices} validate={required()} />
  </>
);
