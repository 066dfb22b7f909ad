import { Button } from '@mui/material';
import { useState } from 'react';
import {
  Create,
  CreateButton,
  DataTable,
  email,
  required,
  SaveButton,
  SelectInput,
  TextInput,
  Toolbar,
  TopToolbar,
  useRecordContext,
  useRedirect,
} from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { NameColumn } from '../common/columns.tsx';
import { EditPage, ListPage } from '../resource/resource-pages.tsx';
import { PanelForm } from '../common/panel-form.tsx';
import { SecretDialog } from '../common/dialogs.tsx';
import { TimeText } from '../common/time.tsx';
import { roles } from '../session/roles.ts';

const roleChoices = roles.map(({ id, name, permissions }) => ({
  id,
  name: `${name}: ${permissions}`,
}));

export const UserList = () => (
  <ListPage
    sort={{ field: 'email', order: 'ASC' }}
    actions={
      <TopToolbar>
        <CreateButton label="Invite" />
      </TopToolbar>
    }
  >
    <NameColumn source="name" label="Name" />
    <DataTable.Col source="email" label="E-mail" />
    <DataTable.Col source="role" label="Role" />
    <DataTable.Col
      label="One-time codes"
      render={(user) => (user['code_enabled'] === true ? 'on' : 'off')}
    />
    <DataTable.Col
      source="last_sign_in_at"
      label="Last sign-in"
      render={(user) =>
        user['invited'] === true ? 'invited' : <TimeText time={user['last_sign_in_at']} />
      }
    />
  </ListPage>
);

/** Shows the invitation link once. The invited user opens it to set a password. */
export function UserCreate() {
  const redirect = useRedirect();
  const [link, setLink] = useState<string>();
  return (
    <>
      <Create
        title="Invite a user"
        mutationOptions={{
          onSuccess: (user: { id: string; invite_url?: string }) => setLink(user.invite_url),
        }}
      >
        <PanelForm
          toolbar={
            <Toolbar>
              <SaveButton label="Create invitation" icon={<></>} />
            </Toolbar>
          }
        >
          <UserFields isNew />
        </PanelForm>
      </Create>
      <SecretDialog
        text={link}
        title="Invitation link"
        instructions={linkInstructions}
        onClose={() => redirect('list', 'users')}
      />
    </>
  );
}

const removal = {
  label: 'Remove',
  effect: 'They are signed out immediately. The audit log keeps their e-mail address.',
};

export const UserEdit = () => (
  <EditPage noun="user" removal={removal}>
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

const linkInstructions = 'Send them this single-use link. It expires in 24 hours.';

/** Creates a single-use link for a user who has lost their password, authenticator or first link. */
function NewLink() {
  const user = useRecordContext();
  const [link, setLink] = useState<string>();
  const { run, isRunning } = useAction<{ invite_url: string }>({
    onSuccess: (response) => setLink(response.invite_url),
  });
  if (!user) return null;
  return (
    <>
      <Button
        variant="outlined"
        disabled={isRunning}
        onClick={() => run(`/panel/api/users/${user.id}/link`)}
      >
        Create password link
      </Button>
      <SecretDialog
        text={link}
        title="Password link"
        instructions={linkInstructions}
        onClose={() => setLink(undefined)}
      />
    </>
  );
}
