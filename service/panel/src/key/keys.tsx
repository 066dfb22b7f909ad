import { Alert, Box, Stack } from '@mui/material';
import type { ApiKey } from '@trueward/protocol/wire';
import { useState } from 'react';
import {
  Create,
  CreateButton,
  DataTable,
  FormDataConsumer,
  List,
  NumberInput,
  required,
  SelectInput,
  TextInput,
  TopToolbar,
  useGetList,
  useRedirect,
} from 'react-admin';
import { TimeColumn } from '../common/columns.tsx';
import { EditPage } from '../resource/resource-pages.tsx';
import { PanelForm } from '../common/panel-form.tsx';
import { CopyText } from '../common/copy-text.tsx';
import { SecretDialog } from '../common/dialogs.tsx';
import { TimeText, useTimeZone } from '../common/time.tsx';
import { OriginsInput } from './key-fields.tsx';
import { KeyActions, keyInstructions, describeKeyState, isRevoked } from './key-actions.tsx';

export function KeyList() {
  const [zone] = useTimeZone();
  return (
    <>
      <LeakWarnings />
      <List
        exporter={false}
        perPage={25}
        sort={{ field: 'created_at', order: 'DESC' }}
        actions={
          <TopToolbar>
            <CreateButton />
          </TopToolbar>
        }
      >
        <DataTable bulkActionButtons={false} rowClick={false}>
          <DataTable.Col
            source="name"
            label="Key"
            render={(key) => <KeyText apiKey={key as ApiKey} />}
          />
          <DataTable.Col label="Allowed origins" render={(key) => describeOrigins(key as ApiKey)} />
          <DataTable.Col label="Rate limit" render={(key) => describeLimit(key as ApiKey)} />
          <TimeColumn source="created_at" label="Created" />
          <TimeColumn source="last_used_at" label="Last used" />
          <DataTable.Col
            label="Status"
            render={(key) => describeKeyState(key as ApiKey, Date.now(), zone)}
          />
          <DataTable.Col label="Actions">
            <KeyActions />
          </DataTable.Col>
        </DataTable>
      </List>
    </>
  );
}

/** A key's name and kind, and its text. Of a secret key, the service knows only the end. */
const KeyText = ({ apiKey: { kind, name, key, last_four: lastFour } }: { apiKey: ApiKey }) => (
  <Box sx={{ minWidth: 200 }}>
    {name === undefined ? kind : `${name} (${kind})`}
    {key === undefined ? ` …${lastFour}` : <CopyText text={key} label="Publishable key" />}
  </Box>
);

const describeOrigins = ({ kind, allowed_origins: origins }: ApiKey): string =>
  kind === 'secret' ? 'servers' : origins.includes('*') ? 'any origin' : origins.join(', ');

const describeLimit = ({ rate_limit: limit }: ApiKey): string =>
  limit === undefined
    ? 'default'
    : `${limit.per_s.toLocaleString()} per second, burst ${limit.burst.toLocaleString()}`;

/** Shows the new key before returning to the list, because no later response contains it. */
export function KeyCreate() {
  const redirect = useRedirect();
  const [text, setText] = useState<string>();
  return (
    <>
      <Create
        title="New key"
        mutationOptions={{ onSuccess: (newKey: ApiKey) => setText(newKey.key) }}
      >
        <PanelForm>
          <SelectInput
            source="kind"
            label="Kind"
            validate={required()}
            choices={[
              { id: 'publishable', name: 'Publishable: for the game' },
              { id: 'secret', name: 'Secret: for your server' },
            ]}
          />
          <KeyNameInput />
          <FormDataConsumer>
            {({ formData }) => formData['kind'] === 'publishable' && <OriginsInput />}
          </FormDataConsumer>
          <RateLimitInputs />
        </PanelForm>
      </Create>
      <SecretDialog
        text={text}
        title="New API key"
        instructions={keyInstructions}
        onClose={() => redirect('list', 'keys')}
      />
    </>
  );
}

export const KeyEdit = () => (
  <EditPage noun="key">
    <Alert severity="info">Changes apply to the next request.</Alert>
    <KeyNameInput />
    <FormDataConsumer>
      {({ formData }) => formData['kind'] === 'publishable' && <OriginsInput />}
    </FormDataConsumer>
    <RateLimitInputs />
  </EditPage>
);

/** Inputs for a rate limit. Both or neither must be set. If they are too high, the service's error states the maximum. */
const RateLimitInputs = () => (
  <Stack direction="row" spacing={2}>
    <NumberInput
      source="rate_limit.per_s"
      label="Requests per second"
      helperText="Leave both fields empty for the default limit."
      min={1}
      step={1}
      validate={bothOrNeither}
    />
    <NumberInput
      source="rate_limit.burst"
      label="Burst"
      min={1}
      step={1}
      validate={bothOrNeither}
    />
  </Stack>
);

const bothOrNeither = (
  value: unknown,
  { rate_limit: limit }: Partial<ApiKey>,
): string | undefined =>
  !value && (limit?.per_s || limit?.burst) ? 'Set both or neither' : undefined;

const KeyNameInput = () => (
  <TextInput source="name" label="Name" helperText="What the key is for, such as: game server." />
);

/** Warns about active secret keys that a web page has sent to the service. */
function LeakWarnings() {
  const { data: keys = [] } = useGetList<ApiKey>('keys', {
    pagination: { page: 1, perPage: 1_000 },
  });
  return keys
    .filter((key) => key.leaked_at !== undefined && !isRevoked(key, Date.now()))
    .map(({ id, last_four: lastFour, leaked_at: leakedAt, leaked_to: page }) => (
      <Alert key={id} severity="error" sx={{ marginTop: 2 }}>
        The secret key ending in {lastFour} has leaked: a page on {page ?? 'another site'} sent it,
        most recently on <TimeText time={leakedAt} />. Roll it now.
      </Alert>
    ));
}
