import { MenuItem, TextField } from '@mui/material';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { KillSwitch } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useGetList, useNotify } from 'react-admin';
import type { CallOptions } from '../api/call.ts';
import { useEnvironment } from '../api/environment.ts';
import { readMessage } from '../api/problem.ts';
import { useCall } from '../api/use-call.ts';
import { FormDialog } from '../common/dialogs.tsx';
import { formatTime, useTimeZone } from '../common/time.tsx';
import { durations, type KillTarget, type Scope, buildStopRequest } from './kill-targets.ts';

const stopText = 'Its ads stop immediately, including those already loaded.';
const stopTexts: Record<Scope, string> = {
  placement: stopText,
  source: stopText,
  advertiser: `${stopText} Advertisers with the same domain stop with it, because outside ads are only known by their domain.`,
};

interface Props {
  target: KillTarget;
  onClose(): void;
  onEffect(text: string): void;
}

/** Prompts for a reason and a duration, then stops the target. */
export function StopDialog({ target, onClose, onEffect }: Props) {
  const { environment } = useEnvironment();
  const [reason, setReason] = useState('');
  const [durationIndex, setDurationIndex] = useState(0);
  const { change, isRunning } = useKillSwitchChange(`${target.name} stopped`, (text) => {
    onEffect(text);
    onClose();
  });
  // Reuse an inactive kill switch, so that each target has a single kill switch with its complete history.
  const { scope, id } = target;
  const { data: idleSwitches, isPending } = useGetList<KillSwitch>('kill-switches', {
    filter: { scope, target_id: id, state: 'off' },
    pagination: { page: 1, perPage: 1 },
  });
  const targetWithSwitch = { ...target, idleSwitch: target.idleSwitch ?? idleSwitches?.[0] };
  const stop = () =>
    change(
      buildStopRequest(
        targetWithSwitch,
        { reason, hours: durations[durationIndex]?.hours },
        Date.now(),
      ),
    );

  return (
    <FormDialog
      title={`Stop ${target.name} in ${environment}?`}
      text={stopTexts[scope]}
      confirm="Stop now"
      confirmColor="error"
      isReady={!isRunning && !isPending && reason.trim() !== ''}
      onConfirm={stop}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        required
        autoFocus
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        slotProps={{ htmlInput: { maxLength: 500 } }}
      />
      <TextField
        select
        label="Duration"
        value={durationIndex}
        onChange={(event) => setDurationIndex(Number(event.target.value))}
      >
        {durations.map(({ name }, index) => (
          <MenuItem key={name} value={index}>
            {name}
          </MenuItem>
        ))}
      </TextField>
    </FormDialog>
  );
}

interface Change {
  path: string;
  method: NonNullable<CallOptions['method']>;
  body: object;
  ifMatch?: string | undefined;
}

/**
 * Changes kill switches, one after the other, and measures how long the changes take. They are in effect when the
 * responses arrive.
 *
 * @param description describes the changes together, such as `Revive stopped`
 */
export function useKillSwitchChange(description: string, onEffect: (text: string) => void) {
  const [zone] = useTimeZone();
  const call = useCall();
  const notify = useNotify();
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    async mutationFn(changes: readonly Change[]) {
      const startedAtMs = performance.now();
      let at = '';
      for (const { path, ...options } of changes)
        at = (await call<KillSwitch>(path, options)).body.updated_at;
      return { at, seconds: (performance.now() - startedAtMs) / 1_000 };
    },
    onError: (error) => notify(readMessage(error), { type: 'error' }),
    onSuccess: ({ at, seconds }) =>
      onEffect(
        `${description}. In effect since ${formatTime(at, zone)}, ${seconds.toFixed(2)} s after your click.`,
      ),
    onSettled: () => client.invalidateQueries(),
  });
  return {
    isRunning: isPending,
    change: (...changes: Change[]) => mutate(changes),
  };
}
