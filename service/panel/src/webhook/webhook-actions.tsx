import { Box, Button } from '@mui/material';
import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess, useNotify, useRecordContext } from 'react-admin';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useAction, useRead } from '../api/use-call.ts';
import { ChoiceField, eventChoices } from '../common/choices.tsx';
import { OverlapDialog, ShownOnce } from '../common/dialogs.tsx';
import { PanelCard } from '../common/page.tsx';

const dayMs = 86_400_000;

/** What can be done with a webhook beside changing it: a test, what it missed, a new secret. */
export function WebhookActions() {
  const webhook = useRecordContext<Webhook>();
  const { canAccess: mayRotate = false } = useCanAccess({
    resource: 'webhooks',
    action: 'rotate_secret',
  });
  if (!webhook) return null;
  return (
    <PanelCard title="Health">
      <WebhookHealth refetchInterval={5_000} />
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginTop: 2, alignItems: 'center' }}>
        <TestEvent webhook={webhook} />
        <Recover webhook={webhook} />
        {mayRotate && <RotateSecret webhook={webhook} />}
      </Box>
    </PanelCard>
  );
}

function TestEvent({ webhook: { id, events } }: { webhook: Webhook }) {
  const [type, setType] = useState<string>(events[0] ?? '');
  const { run, isRunning } = useAction({ done: 'A test event is on its way.' });
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

function Recover({ webhook: { id } }: { webhook: Webhook }) {
  const notify = useNotify();
  const { run, isRunning } = useAction<{ queued: number }>({
    onDone: ({ queued }) => notify(describeRecovery(queued), { type: 'success' }),
  });
  const since = () => new Date(Date.now() - dayMs).toISOString();
  return (
    <Button
      variant="outlined"
      disabled={isRunning}
      onClick={() => run(query(`/v1/webhooks/${id}/recover`, { since: since() }))}
    >
      Resend missed events (24 h)
    </Button>
  );
}

const describeRecovery = (count: number): string =>
  count === 0
    ? 'It missed nothing in the last day.'
    : `${count === 1 ? '1 event is' : `${count} events are`} sent again.`;

function RotateSecret({ webhook: { id } }: { webhook: Webhook }) {
  const [isAsking, setAsking] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { run } = useAction<Webhook>({ onDone: (changed) => setSecret(changed.secret) });
  return (
    <>
      <Button variant="outlined" onClick={() => setAsking(true)}>
        New signing secret
      </Button>
      {isAsking && (
        <OverlapDialog
          title="Make a new signing secret?"
          text="Until the overlap ends, every webhook carries two signatures: your server may verify with either."
          confirm="Make it"
          onClose={() => setAsking(false)}
          onConfirm={(overlapS) => {
            setAsking(false);
            run(`/v1/webhooks/${id}/rotate_secret`, { body: { overlap_s: overlapS } });
          }}
        />
      )}
      <ShownOnce
        text={secret}
        title="The new signing secret"
        advice={secretAdvice}
        onClose={() => setSecret(undefined)}
      />
    </>
  );
}

/** What a signing secret is for. */
export const secretAdvice =
  'Your server verifies with it that a webhook came from here: hand it to verifyWebhook of trueward/server.';

const reasons = {
  gone: 'Turned off: its server said that it is gone.',
  failing: 'Turned off: it failed for five days. It is tried once an hour.',
  operator: 'Turned off by an operator.',
};

/** How a webhook does, by its newest deliveries; read again every so many milliseconds. */
export function WebhookHealth({ refetchInterval }: { refetchInterval: number }) {
  const webhook = useRecordContext<Webhook>();
  const { data } = useRead<Page<Delivery>>(
    webhook && query(`/v1/webhooks/${webhook.id}/deliveries`, { limit: 20 }),
    { refetchInterval },
  );
  const { data: now } = useRead<Webhook>(webhook && `/v1/webhooks/${webhook.id}`, {
    refetchInterval,
  });
  const reason = (now ?? webhook)?.disabled_reason;
  if (reason) return <>{reasons[reason]}</>;
  if (!data) return <>…</>;
  return <>{describeHealth(data.data)}</>;
}

/** `Of the last 20, 18 arrived, 2 failed` */
function describeHealth(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'Nothing was sent yet.';
  const count = (state: Delivery['state']) =>
    deliveries.filter((delivery) => delivery.state === state).length;
  const failed = count('failed');
  const waiting = count('pending');
  return [
    deliveries.length === 1 ? 'Of one delivery' : `Of the last ${deliveries.length}`,
    `${count('delivered')} arrived`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(waiting === 0 ? [] : [`${waiting} on their way`]),
  ].join(', ');
}
