import { Box, Button, Typography } from '@mui/material';
import { useMutation } from '@tanstack/react-query';
import type { Job, Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useCanAccess, useGetList, useNotify } from 'react-admin';
import { readMessage } from '../api/problem.ts';
import { useCall } from '../api/use-call.ts';
import { ChoiceField } from '../common/choices.tsx';
import { PanelCard } from '../common/page.tsx';
import { RecoveryProgress } from './recovery-progress.tsx';
import { recoverPath, ResendFields, type ResendFilter, useResendFilter } from './resend-filter.tsx';

interface Recovery {
  url: string;
  jobId: string;
}

/** Sends events again to one webhook or to all that are enabled, and shows how far each is. */
export function ResendToWebhooks() {
  const { canAccess = false } = useCanAccess({ resource: 'webhooks', action: 'edit' });
  const { data = [] } = useGetList<Webhook>('webhooks', {
    pagination: { page: 1, perPage: 100 },
  });
  const webhooks = data.filter(({ status }) => status === 'enabled');
  const [id, setId] = useState('');
  const [filter, setFilter] = useResendFilter();
  const { start, isStarting, recoveries } = useRecoveries();
  if (!canAccess || webhooks.length === 0) return null;
  const targets = webhooks.filter(
    (webhook) =>
      (id === '' || webhook.id === id) &&
      (filter.type === '' || webhook.events.some((type) => type === filter.type)),
  );
  return (
    <PanelCard title="Resend events">
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, marginTop: 1, alignItems: 'center' }}>
        <ChoiceField
          label="To"
          choices={[
            { id: '', name: 'All enabled webhooks' },
            ...webhooks.map((webhook) => ({ id: webhook.id, name: webhook.url })),
          ]}
          value={id}
          onChange={setId}
        />
        <ResendFields
          filter={filter}
          onChange={setFilter}
          types={webhooks.flatMap(({ events }) => events)}
        />
        <Button
          variant="outlined"
          disabled={isStarting || targets.length === 0}
          onClick={() => start(targets, filter)}
        >
          Resend
        </Button>
        {targets.length === 0 && <Typography>No webhook gets these events.</Typography>}
        {recoveries.map(({ url, jobId }) => (
          <RecoveryProgress key={jobId} id={jobId} label={url} />
        ))}
      </Box>
    </PanelCard>
  );
}

/** Starts a recovery for each webhook. Those that have been started are shown even if a later one can't be. */
function useRecoveries() {
  const call = useCall();
  const notify = useNotify();
  const [recoveries, setRecoveries] = useState<Recovery[]>([]);
  const { mutate, isPending } = useMutation({
    mutationFn: async ({ targets, filter }: { targets: Webhook[]; filter: ResendFilter }) => {
      setRecoveries([]);
      for (const { id, url } of targets) {
        const { body } = await call<Job>(recoverPath(id, filter), { method: 'POST' });
        setRecoveries((started) => [...started, { url, jobId: body.id }]);
      }
    },
    onError: (error) => notify(readMessage(error), { type: 'error' }),
  });
  return {
    start: (targets: Webhook[], filter: ResendFilter) => mutate({ targets, filter }),
    isStarting: isPending,
    recoveries,
  };
}
