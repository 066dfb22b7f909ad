import { Button, LinearProgress, Typography } from '@mui/material';
import type { Job } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useAction, useRead } from '../api/use-call.ts';

const refetchInterval = 1_000;

/** How far a recovery is, and a button that cancels it. */
export function RecoveryProgress({ id, label }: { id: string; label?: string }) {
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
      {label !== undefined && `${label}: `}
      {describe(job)}
      {!isOver && (
        <>
          <LinearProgress
            variant="determinate"
            value={job.progress * 100}
            aria-label={label === undefined ? 'Progress' : `Progress: ${label}`}
          />
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
