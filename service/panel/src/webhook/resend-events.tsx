import { Alert, Button } from '@mui/material';
import type { Job, Webhook } from '@trueward/protocol/wire';
import { query } from '../api/resources.ts';
import { useAction } from '../api/use-call.ts';
import { TimeText } from '../common/time.tsx';
import { RecoveryProgress } from './recovery-progress.tsx';
import { recoverPath, ResendFields, useResendFilter } from './resend-filter.tsx';

/** Sends a webhook's events again, and shows how far that is. */
export function ResendEvents({ webhook }: { webhook: Webhook }) {
  const { id, events, missed_since: missedSince } = webhook;
  const [filter, setFilter] = useResendFilter();
  const { run, isRunning, result } = useAction<Job>({});
  return (
    <>
      {missedSince !== undefined && (
        <Alert
          severity="warning"
          sx={{ width: '100%' }}
          action={
            <Button
              color="inherit"
              disabled={isRunning}
              onClick={() => run(query(`/v1/webhooks/${id}/recover`, { since: missedSince }))}
            >
              Resend them
            </Button>
          }
        >
          The receiver missed the events since <TimeText time={missedSince} /> while this webhook
          was disabled.
        </Alert>
      )}
      <ResendFields filter={filter} onChange={setFilter} types={events} />
      <Button variant="outlined" disabled={isRunning} onClick={() => run(recoverPath(id, filter))}>
        Resend events
      </Button>
      {result && <RecoveryProgress id={result.id} />}
    </>
  );
}
