import { Alert, Box, Link, Typography } from '@mui/material';
import { useQueries } from '@tanstack/react-query';
import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useGetList } from 'react-admin';
import { Link as RouterLink } from 'react-router';
import type { Page } from '../api/cursors.ts';
import { query } from '../api/resources.ts';
import { useCall } from '../api/use-call.ts';
import { PanelCard } from '../common/panel-card.tsx';
import { TimeText } from '../common/time-text.tsx';

const mostShown = 5;

/** The newest webhook deliveries that nobody took. */
export function FailingDeliveries() {
  const failing = useFailing();
  return (
    <PanelCard title="Failing deliveries">
      {failing.length === 0 && <Typography>No delivery has failed.</Typography>}
      <Box sx={{ display: 'grid', gap: 1 }}>
        {failing.map(({ webhook, failed }) => (
          <Alert key={webhook.id} severity="error">
            <Link component={RouterLink} to={`/webhooks/${webhook.id}`} color="inherit">
              {webhook.url}
            </Link>
            {failed.map(({ id, event_type: type, created_at: time, attempts }) => (
              <div key={id}>
                {type} of <TimeText time={time} />, {attempts.length} attempts, last:{' '}
                {attempts.at(-1)?.status ?? attempts.at(-1)?.error ?? 'no answer'}
              </div>
            ))}
          </Alert>
        ))}
      </Box>
    </PanelCard>
  );
}

function useFailing(): { webhook: Webhook; failed: Delivery[] }[] {
  const call = useCall();
  const { data: webhooks = [] } = useGetList<Webhook>('webhooks', {
    pagination: { page: 1, perPage: 100 },
  });
  const answers = useQueries({
    queries: webhooks.map(({ id }) => ({
      queryKey: ['failing', id],
      queryFn: async () => {
        const path = query(`/v1/webhooks/${id}/deliveries`, { state: 'failed', limit: mostShown });
        return (await call<Page<Delivery>>(path)).body.data;
      },
    })),
  });
  return webhooks.flatMap((webhook, index) => {
    const failed = answers[index]?.data ?? [];
    return failed.length === 0 ? [] : [{ webhook, failed }];
  });
}
