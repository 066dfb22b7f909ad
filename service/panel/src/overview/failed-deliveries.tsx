import { Alert, Box, Link, Typography } from '@mui/material';
import { useQueries } from '@tanstack/react-query';
import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useGetList } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useCall } from '../api/use-call.ts';
import { getEventName } from '../common/choices.tsx';
import { PanelCard } from '../common/page.tsx';
import { TimeText } from '../common/time.tsx';
import { FailingWebhooks, useFailingWebhooks } from '../webhook/webhook-health.tsx';

const maxItems = 5;

/** Webhooks that miss events, and the most recent failed deliveries. */
export function FailedDeliveries() {
  const { failedByWebhook, isComplete, webhooks } = useFailedDeliveries();
  const failing = useFailingWebhooks();
  const hasWebhooks = webhooks.length > 0;
  return (
    <PanelCard title="Failed deliveries">
      <Notices webhooks={webhooks} />
      <FailingWebhooks failing={failing} webhooks={webhooks} />
      {isComplete && failing.length === 0 && failedByWebhook.length === 0 && (
        <Typography>{hasWebhooks ? 'No failed deliveries.' : 'No webhooks yet.'}</Typography>
      )}
      <Box sx={{ display: 'grid', gap: 1 }}>
        {failedByWebhook.map(({ webhook, failedDeliveries }) => (
          <Alert key={webhook.id} severity="error">
            <Link component={RouterLink} to={`/webhooks/${webhook.id}`} color="inherit">
              {webhook.url}
            </Link>
            {failedDeliveries.map(({ id, event_type: type, created_at: time, attempts }) => (
              <div key={id}>
                {getEventName(type)} · <TimeText time={time} /> · {attempts.length} attempts, last:{' '}
                {attempts.at(-1)?.status ?? attempts.at(-1)?.error ?? 'no response'}
              </div>
            ))}
          </Alert>
        ))}
      </Box>
    </PanelCard>
  );
}

/** Disabled webhooks, and enabled ones to which the events that they missed have not been sent again. */
function Notices({ webhooks }: { webhooks: readonly Webhook[] }) {
  return webhooks.flatMap((webhook) => {
    const { id, url, disabled_reason: reason, missed_since: missedSince } = webhook;
    const isDisabled = reason !== undefined && reason !== 'operator';
    if (!isDisabled && missedSince === undefined) return [];
    return (
      <Alert key={id} severity={isDisabled ? 'error' : 'warning'} sx={{ marginBottom: 1 }}>
        <Link component={RouterLink} to={`/webhooks/${id}`} color="inherit">
          {url}
        </Link>{' '}
        {isDisabled ? 'is disabled and misses events.' : 'missed events while it was disabled.'}
      </Alert>
    );
  });
}

interface FailedByWebhook {
  failedByWebhook: { webhook: Webhook; failedDeliveries: Delivery[] }[];
  /** Whether every webhook's deliveries have been loaded. */
  isComplete: boolean;
  webhooks: readonly Webhook[];
}

const refetchInterval = 10_000;

function useFailedDeliveries(): FailedByWebhook {
  const call = useCall();
  const { data: webhooks = [], isSuccess } = useGetList<Webhook>('webhooks', {
    pagination: { page: 1, perPage: 100 },
  });
  const responses = useQueries({
    queries: webhooks.map(({ id }) => ({
      queryKey: ['failing', id],
      refetchInterval,
      queryFn: async () => {
        const path = query(`/v1/webhooks/${id}/deliveries`, { state: 'failed', limit: maxItems });
        return (await call<Page<Delivery>>(path)).body.data;
      },
    })),
  });
  const failedByWebhook = webhooks.flatMap((webhook, index) => {
    const failedDeliveries = responses[index]?.data ?? [];
    return failedDeliveries.length === 0 ? [] : [{ webhook, failedDeliveries }];
  });
  const isComplete = isSuccess && responses.every((response) => response.isSuccess);
  return { failedByWebhook, isComplete, webhooks };
}
