import { Alert, Link } from '@mui/material';
import type { Webhook, WebhookHealth as Health, WebhookHealthList } from '@trueward/protocol/wire';
import { useRecordContext } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import { useRead } from '../api/use-call.ts';
import { PanelCard } from '../common/page.tsx';
import { StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';

const refetchInterval = 5_000;

/** The health of all webhooks. The list, each webhook's page and the overview share the request, so that they agree. */
const useHealth = (): readonly Health[] =>
  useRead<WebhookHealthList>('/v1/webhook-health', { refetchInterval }).data?.data ?? [];

/** A webhook's health as a word, for the list. */
export function WebhookState({ webhookId }: { webhookId: string }) {
  const health = useHealth().find(({ webhook_id: id }) => id === webhookId);
  return health ? <StatusChip status={health.state} /> : <>…</>;
}

/** A webhook's health in sentences: since when it is failing and why, the next attempt, and what is queued. */
export function WebhookHealth({ webhookId }: { webhookId: string }) {
  const health = useHealth().find(({ webhook_id: id }) => id === webhookId);
  const { data: webhook } = useRead<Webhook>(`/v1/webhooks/${webhookId}`, { refetchInterval });
  if (!health || !webhook) return <>…</>;
  const severity = ({ healthy: 'success', failing: 'error', disabled: 'warning' } as const)[
    health.state
  ];
  return (
    <Alert severity={severity}>
      <HealthText health={health} reason={webhook.disabled_reason} />
    </Alert>
  );
}

/** The current webhook's health, for users who can't do anything about it. */
export function WebhookHealthCard() {
  const webhook = useRecordContext<Webhook>();
  if (!webhook) return null;
  return (
    <PanelCard title="Health">
      <WebhookHealth webhookId={webhook.id} />
    </PanelCard>
  );
}

const reasons = {
  gone: 'Disabled: the endpoint responded with 410 Gone.',
  failing: 'Disabled after failing for five days. Probed once an hour.',
  operator: 'Disabled by an operator.',
};

function HealthText({ health, reason }: { health: Health; reason: Webhook['disabled_reason'] }) {
  const { state, failing_since: since, failed_attempts: attempts = 0, queued } = health;
  return (
    <>
      {state === 'healthy' && 'Healthy. '}
      {state === 'disabled' && `${reasons[reason ?? 'operator']} `}
      {since !== undefined && (
        <>
          Failing since <TimeText time={since} />:{' '}
          {attempts === 1 ? '1 failed attempt' : `${attempts.toLocaleString()} failed attempts`}
          {health.last_failure !== undefined && `, last: ${health.last_failure}`}.{' '}
        </>
      )}
      {queued === 0 ? 'Nothing is queued.' : `${countQueued(queued)} queued`}
      {queued > 0 && health.next_attempt_at !== undefined && (
        <>
          ; next attempt <TimeText time={health.next_attempt_at} />
        </>
      )}
      {queued > 0 && '.'}
      {health.disables_at !== undefined && (
        <>
          {' '}
          If it keeps failing, it will be disabled on <TimeText time={health.disables_at} />.
        </>
      )}
    </>
  );
}

function countQueued(queued: number): string {
  if (queued >= 10_000) return '10,000 or more deliveries are';
  return queued === 1 ? '1 delivery is' : `${queued.toLocaleString()} deliveries are`;
}

/** The failing webhooks. */
export const useFailingWebhooks = (): readonly Health[] =>
  useHealth().filter(({ state }) => state === 'failing');

interface FailingProps {
  failing: readonly Health[];
  webhooks: readonly Webhook[];
}

/** The failing webhooks, for the overview. */
export const FailingWebhooks = ({ failing, webhooks }: FailingProps) =>
  failing.flatMap((health) => {
    const webhook = webhooks.find(({ id }) => id === health.webhook_id);
    if (!webhook) return [];
    return (
      <Alert key={health.webhook_id} severity="error" sx={{ marginBottom: 1 }}>
        <Link component={RouterLink} to={`/webhooks/${webhook.id}`} color="inherit">
          {webhook.url}
        </Link>
        : <HealthText health={health} reason={undefined} />
      </Alert>
    );
  });
