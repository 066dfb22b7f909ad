import { Box } from '@mui/material';
import type { Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import {
  CheckboxGroupInput,
  Create,
  DataTable,
  Edit,
  required,
  SelectInput,
  Show,
  TextInput,
  useRedirect,
} from 'react-admin';
import { eventChoices, getEventName, makeChoices } from '../common/choices.tsx';
import { NameColumn, StatusColumn, wideOnly } from '../common/columns.tsx';
import { EditToolbar, ListPage, RecordCard } from '../resource/resource-pages.tsx';
import { PanelForm } from '../common/panel-form.tsx';
import { SecretDialog } from '../common/dialogs.tsx';
import { Deliveries } from './deliveries.tsx';
import { ResendToWebhooks } from './resend-to-webhooks.tsx';
import { webhookSecretInstructions, WebhookActions } from './webhook-actions.tsx';
import { WebhookHealthCard, WebhookState } from './webhook-health.tsx';

export const WebhookList = () => (
  <>
    <ListPage sort={{ field: 'created_at', order: 'DESC' }}>
      <NameColumn source="url" label="URL" />
      <DataTable.Col
        {...wideOnly}
        label="Events"
        render={({ events }) => (events as string[]).map(getEventName).join(', ')}
      />
      <StatusColumn source="status" label="Status" />
      <DataTable.Col label="Health" render={({ id }) => <WebhookState webhookId={String(id)} />} />
    </ListPage>
    <ResendToWebhooks />
  </>
);

/** Shows the new secret before returning to the list, because no later response contains it. */
export function WebhookCreate() {
  const redirect = useRedirect();
  const [secret, setSecret] = useState<string>();
  return (
    <>
      <Create
        title="New webhook"
        mutationOptions={{ onSuccess: (webhook: Webhook) => setSecret(webhook.secret) }}
      >
        <PanelForm>
          <WebhookFields />
        </PanelForm>
      </Create>
      <SecretDialog
        text={secret}
        title="Webhook secret"
        instructions={webhookSecretInstructions}
        onClose={() => redirect('list', 'webhooks')}
      />
    </>
  );
}

export const WebhookEdit = () => (
  <Edit actions={false} mutationMode="pessimistic" redirect={false} sx={{ marginBottom: 2 }}>
    <PanelForm toolbar={<EditToolbar noun="webhook" />}>
      <WebhookFields />
      <SelectInput source="status" label="Status" choices={makeChoices('enabled', 'disabled')} />
    </PanelForm>
    <Box sx={{ padding: 2, display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <WebhookActions />
      <Deliveries canRedeliver />
    </Box>
  </Edit>
);

export const WebhookShow = () => (
  <Show>
    <RecordCard />
    <Box sx={{ padding: 2, display: 'grid', gap: 2, gridTemplateColumns: 'minmax(0, 1fr)' }}>
      <WebhookHealthCard />
      <Deliveries canRedeliver={false} />
    </Box>
  </Show>
);

const WebhookFields = () => (
  <>
    <TextInput
      source="url"
      type="url"
      label="Endpoint URL"
      helperText="For example https://game.example/webhooks"
      validate={required()}
    />
    <CheckboxGroupInput
      source="events"
      label="Events"
      choices={eventChoices}
      validate={required()}
    />
  </>
);
