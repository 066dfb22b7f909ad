import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  MenuItem,
  TextField,
} from '@mui/material';
import { useState } from 'react';
import { useEnvironment } from '../api/environment.ts';
import { expiries, type KillTarget, stopRequest } from './kill-targets.ts';
import { useEffectTime } from './use-effect-time.ts';

interface Props {
  target: KillTarget;
  onClose(): void;
  onEffect(text: string): void;
}

/** Asks once more, with the reason and for how long, and stops it. */
export function StopDialog({ target, onClose, onEffect }: Props) {
  const { environment } = useEnvironment();
  const [reason, setReason] = useState('');
  const [expiry, setExpiry] = useState(0);
  const { change, isRunning } = useEffectTime(`${target.name} is stopped`, (text) => {
    onEffect(text);
    onClose();
  });
  const stop = () =>
    change(stopRequest(target, { reason, hours: expiries[expiry]?.hours }, Date.now()));

  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="xs" aria-labelledby="stop-title">
      <DialogTitle id="stop-title">
        Stop {target.name} in {environment}?
      </DialogTitle>
      <DialogContent sx={{ display: 'grid', gap: 2 }}>
        <DialogContentText>
          No ad of this {target.scope} is shown any more, and those on their way no longer count.
        </DialogContentText>
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
          label="For how long"
          value={expiry}
          onChange={(event) => setExpiry(Number(event.target.value))}
        >
          {expiries.map(({ name }, index) => (
            <MenuItem key={name} value={index}>
              {name}
            </MenuItem>
          ))}
        </TextField>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="contained"
          color="error"
          disabled={isRunning || reason.trim() === ''}
          onClick={stop}
        >
          Stop it now
        </Button>
      </DialogActions>
    </Dialog>
  );
}
