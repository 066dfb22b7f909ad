import { Box, Button } from '@mui/material';
import type { Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess, useRecordContext } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { ChoiceField, eventChoices } from '../common/choices.tsx';
import { OverlapDialog, SecretDialog } from '../common/dialogs.tsx';
import { PanelCard } from '../common/page.tsx';
import { WebhookHealth } from './webhook-health.tsx';
import { ResendEvents } from './resend-events.tsx';

/** A webhook's health and actions: send a test event, resend events, rotate the secret. */
export function WebhookActions() {
  const webhook = useRecordContext<Webhook>();
  const { canAccess: mayRotate = false } = useCanAccess({
    resource: 'webhooks',
    action: 'rotate_secret',
  });
  if (!webhook) return null;
  return (
    <PanelCard title="Health">
      <WebhookHealth webhookId={webhook.id} />
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginTop: 2, alignItems: 'center' }}>
        <TestEvent webhook={webhook} />
        <ResendEvents webhook={webhook} />
        {mayRotate && <RotateSecret webhook={webhook} />}
      </Box>
    </PanelCard>
  );
}

function TestEvent({ webhook: { id, events } }: { webhook: Webhook }) {
  const [type, setType] = useState<string>(events[0] ?? '');
  const { run, isRunning } = useAction({ successMessage: 'Test event queued.' });
  return (
    <>
      <ChoiceField
        label="Test event"
        choices={eventChoices.filter(({ id }) => events.some((event) => event === id))}
        value={type}
        onChange={setType}
      />
      <Button
        variant="outlined"
        disabled={isRunning}
        onClick={() => run(`/v1/webhooks/${id}/test`, { body: { type } })}
      >
        Send
      </Button>
    </>
  );
}

function RotateSecret({ webhook: { id } }: { webhook: Webhook }) {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { run } = useAction<Webhook>({ onSuccess: (webhook) => setSecret(webhook.secret) });
  return (
    <>
      <Button variant="outlined" onClick={() => setDialogOpen(true)}>
        Rotate secret
      </Button>
      {isDialogOpen && (
        <OverlapDialog
          title="Rotate the webhook secret?"
          text="Until the old secret expires, each webhook event has two signatures; your server can verify either one."
          confirm="Rotate"
          onClose={() => setDialogOpen(false)}
          onConfirm={(overlapS) => {
            setDialogOpen(false);
            run(`/v1/webhooks/${id}/rotate_secret`, { body: { overlap_s: overlapS } });
          }}
        />
      )}
      <SecretDialog
        text={secret}
        title="New webhook secret"
        instructions={webhookSecretInstructions}
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}

export const webhookSecretInstructions =
  'Your server needs it to verify webhooks: pass it to verifyWebhook from trueward/server.';
