import { Alert, Box, Button, Typography } from '@mui/material';
import type { Delivery, Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { Loading, useGetList, useRecordContext } from 'react-admin';
import { useAction } from '../api/use-call.ts';
import { ChoiceField, getEventName, makeChoices } from '../common/choices.tsx';
import { PanelCard } from '../common/page.tsx';
import { StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time.tsx';

const perPage = 20;
const states = [{ id: '', name: 'All' }, ...makeChoices('delivered', 'pending', 'failed')];

/** A webhook's deliveries and their attempts, newest first. */
export function Deliveries({ canRedeliver }: { canRedeliver: boolean }) {
  const webhook = useRecordContext<Webhook>();
  const [page, setPage] = useState(1);
  const [state, setState] = useState('');
  const { data, pageInfo, isPending, error, refetch } = useGetList<Delivery>(
    'deliveries',
    {
      filter: { webhook_id: webhook?.id, state },
      pagination: { page, perPage },
    },
    { enabled: webhook !== undefined, refetchInterval: 5_000 },
  );
  return (
    <PanelCard title="Deliveries">
      <Box sx={{ display: 'flex', gap: 1, marginBlock: 1, alignItems: 'center' }}>
        <ChoiceField
          label="State"
          choices={states}
          value={state}
          onChange={(nextState) => {
            setState(nextState);
            setPage(1);
          }}
        />
        <Button onClick={() => void refetch()}>Refresh</Button>
      </Box>
      {isPending && <Loading />}
      {error && <Alert severity="error">Could not load the deliveries. {error.message}</Alert>}
      {data?.length === 0 && <Typography>No deliveries.</Typography>}
      {data?.map((delivery) => (
        <DeliveryDetails key={delivery.id} delivery={delivery} canRedeliver={canRedeliver} />
      ))}
      <Box sx={{ display: 'flex', gap: 1 }}>
        <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
          Newer
        </Button>
        <Button disabled={!pageInfo?.hasNextPage} onClick={() => setPage(page + 1)}>
          Older
        </Button>
      </Box>
    </PanelCard>
  );
}

interface Props {
  delivery: Delivery;
  canRedeliver: boolean;
}

/** One delivery, which expands to show its attempts and their responses. */
export function DeliveryDetails({ delivery, canRedeliver }: Props) {
  const { id, event_type: type, state, attempts, created_at: createdAt } = delivery;
  const { run, isRunning } = useAction({ successMessage: 'Redelivery queued.' });
  return (
    <Box component="details" sx={{ borderBottom: 1, borderColor: 'divider', paddingBlock: 1 }}>
      <Box component="summary" sx={{ cursor: 'pointer' }}>
        <StatusChip status={state} /> {getEventName(type)} · <TimeText time={createdAt} /> ·{' '}
        {attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}
      </Box>
      <Box sx={{ paddingBlock: 1, paddingInlineStart: 2 }}>
        <Typography variant="body2" color="textSecondary">
          Event {delivery.event_id}, delivery {id}
          {delivery.next_attempt_at !== undefined && (
            <>
              ; next attempt <TimeText time={delivery.next_attempt_at} />
            </>
          )}
        </Typography>
        <ol>
          {attempts.map((attempt) => (
            <li key={attempt.attempt}>
              <TimeText time={attempt.started_at} />, {attempt.latency_ms} ms:{' '}
              {attempt.status ?? attempt.error ?? 'no response'}
              {attempt.response !== undefined && attempt.response !== '' && (
                <Box component="pre" sx={responseStyle} tabIndex={0}>
                  {attempt.response}
                </Box>
              )}
            </li>
          ))}
        </ol>
        {canRedeliver && (
          <Button
            variant="outlined"
            size="small"
            disabled={isRunning}
            onClick={() => run(`/v1/deliveries/${id}/redeliver`)}
          >
            Redeliver
          </Button>
        )}
      </Box>
    </Box>
  );
}

const responseStyle = {
  margin: 0,
  padding: 1,
  maxHeight: 160,
  overflow: 'auto',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  borderRadius: 1,
  backgroundColor: 'action.hover',
};
