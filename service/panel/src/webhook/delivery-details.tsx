import { Box, Button, Typography } from '@mui/material';
import type { Delivery } from '@trueward/protocol/wire';
import { useAction } from '../api/use-call.ts';
import { eventName } from '../common/choices.ts';
import { StatusChip } from '../common/status-chip.tsx';
import { TimeText } from '../common/time-text.tsx';

interface Props {
  delivery: Delivery;
  canRedeliver: boolean;
}

/** One delivery in a line; opened, every attempt with what came back. */
export function DeliveryDetails({ delivery, canRedeliver }: Props) {
  const { id, event_type: type, state, attempts, created_at: createdAt } = delivery;
  const { run, isRunning } = useAction({ done: 'It is sent once more.' });
  return (
    <Box component="details" sx={{ borderBottom: 1, borderColor: 'divider', paddingBlock: 1 }}>
      <Box component="summary" sx={{ cursor: 'pointer' }}>
        <StatusChip status={state} /> {eventName(type)} · <TimeText time={createdAt} /> ·{' '}
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
              {attempt.status ?? attempt.error ?? 'no answer'}
              {attempt.response !== undefined && attempt.response !== '' && (
                <Box component="pre" sx={replyStyle} tabIndex={0}>
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

const replyStyle = {
  margin: 0,
  padding: 1,
  maxHeight: 160,
  overflow: 'auto',
  whiteSpace: 'pre-wrap',
  overflowWrap: 'anywhere',
  borderRadius: 1,
  backgroundColor: 'action.hover',
};
