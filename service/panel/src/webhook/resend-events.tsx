import { Alert, Button, LinearProgress, Typography } from '@mui/material';
import type { Job, Webhook } from '@trueward/protocol/wire';
import { useState } from 'react';
import { query } from '../api/resources.ts';
import { useAction, useRead } from '../api/use-call.ts';
import { TimeText } from '../common/time.tsx';
import { ChoiceField, eventChoices } from '../common/choices.tsx';

const dayMs = 86_400_000;

const periods = [
  { id: '1', name: 'Last 24 hours' },
  { id: '3', name: 'Last 3 days' },
  { id: '7', name: 'Last 7 days' },
  { id: '30', name: 'Last 30 days' },
];
const outcomes = [
  { id: '', name: 'Missed or failed' },
  { id: 'missed', name: 'Missed' },
  { id: 'failed', name: 'Failed' },
  { id: 'delivered', name: 'Delivered' },
];

/** Sends a webhook's events again, and shows how far that is. */
export function ResendEvents({ webhook }: { webhook: Webhook }) {
  const { id, events, missed_since: missedSince } = webhook;
  const [days, setDays] = useState('3');
  const [state, setState] = useState('');
  const [type, setType] = useState('');
  const { run, isRunning, result } = useAction<Job>({});
  const start = (): void => {
    const since = new Date(Date.now() - Number(days) * dayMs).toISOString();
    const filter = { ...(state === '' ? {} : { state }), ...(type === '' ? {} : { type }) };
    run(query(`/v1/webhooks/${id}/recover`, { since, ...filter }));
  };
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
      <ChoiceField label="Resend events of" choices={periods} value={days} onChange={setDays} />
      <ChoiceField label="Delivery" choices={outcomes} value={state} onChange={setState} />
      <ChoiceField
        label="Event"
        choices={[
          { id: '', name: 'All' },
          ...eventChoices.filter(({ id }) => events.some((event) => event === id)),
        ]}
        value={type}
        onChange={setType}
      />
      <Button variant="outlined" disabled={isRunning} onClick={start}>
        Resend events
      </Button>
      {result && <Progress id={result.id} />}
    </>
  );
}

const refetchInterval = 1_000;

function Progress({ id }: { id: string }) {
  const [hasEnded, setEnded] = useState(false);
  const { data: job } = useRead<Job>(`/v1/jobs/${id}`, {
    refetchInterval: hasEnded ? false : refetchInterval,
  });
  const { run, isRunning } = useAction<Job>({});
  if (!job) return null;
  const isOver = job.state !== 'running';
  if (isOver !== hasEnded) setEnded(isOver);
  return (
    <Typography component="div" role="status" sx={{ width: '100%' }}>
      {describe(job)}
      {!isOver && (
        <>
          <LinearProgress variant="determinate" value={job.progress * 100} aria-label="Progress" />
          <Button disabled={isRunning} onClick={() => run(`/v1/jobs/${id}/cancel`)}>
            Cancel
          </Button>
        </>
      )}
    </Typography>
  );
}

function describe({ state, counts, reason = '' }: Job): string {
  const queued = counts['queued'] ?? 0;
  if (state === 'done' && queued === 0) return 'No such events.';
  const text = `${queued === 1 ? '1 event' : `${queued} events`} queued for redelivery`;
  if (state === 'running') return `${text} so far.`;
  if (state === 'done') return `${text}.`;
  return state === 'canceled' ? `Canceled. ${text}.` : `${reason} ${text}.`;
}
