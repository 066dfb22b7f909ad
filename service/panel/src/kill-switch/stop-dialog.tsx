import { MenuItem, TextField } from '@mui/material';
import type { KillSwitch } from '@trueward/protocol/wire';
import { useRef, useState } from 'react';
import { useGetList } from 'react-admin';
import type { CallOptions } from '../api/call.ts';
import { useEnvironment } from '../api/environment.ts';
import { useAction } from '../api/use-call.ts';
import { FormDialog } from '../common/dialogs.tsx';
import { formatTime, useTimeZone } from '../common/time.tsx';
import { durations, type KillTarget, buildStopRequest } from './kill-targets.ts';

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
  const { data: existingSwitches, isPending } = useGetList<KillSwitch>('kill-switches', {
    filter: { scope, target_id: id },
    pagination: { page: 1, perPage: 1 },
  });
  const targetWithSwitch = { ...target, killSwitch: target.killSwitch ?? existingSwitches?.[0] };
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
      text={`Its ads stop immediately, including those already loaded.`}
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
}

/**
 * Changes a kill switch and measures how long the change takes. The change is in effect when the response arrives.
 *
 * @param description describes the change, such as `Revive stopped`
 */
export function useKillSwitchChange(description: string, onEffect: (text: string) => void) {
  const startedAtMs = useRef(0);
  const [zone] = useTimeZone();
  const { run, isRunning } = useAction<KillSwitch>({
    onSuccess(killSwitch) {
      const seconds = ((performance.now() - startedAtMs.current) / 1_000).toFixed(2);
      const at = formatTime(killSwitch.updated_at, zone);
      onEffect(`${description}. In effect since ${at}, ${seconds} s after your click.`);
    },
  });
  return {
    isRunning,
    change({ path, ...options }: Change) {
      startedAtMs.current = performance.now();
      run(path, options);
    },
  };
}
