import {
  Alert,
  Button,
  type ButtonProps,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
  MenuItem,
  TextField,
} from '@mui/material';
import { type ReactNode, useId, useState } from 'react';
import { Confirm } from 'react-admin';
import { CopyText } from './copy-text.tsx';

interface FormDialogProps {
  title: string;
  text: string;
  /** The fields. */
  children: ReactNode;
  confirm: string;
  confirmColor?: 'primary' | 'error';
  /** Whether the dialog can be confirmed (default true). */
  isReady?: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** A dialog that prompts for input before an action. */
export function FormDialog(props: FormDialogProps) {
  const { title, text, children, onClose, onConfirm } = props;
  const { confirm, confirmColor = 'primary', isReady = true } = props;
  const titleId = useId();
  return (
    <Dialog open onClose={onClose} fullWidth maxWidth="xs" aria-labelledby={titleId}>
      <DialogTitle id={titleId}>{title}</DialogTitle>
      <DialogContent sx={{ display: 'grid', gap: 2 }}>
        <DialogContentText>{text}</DialogContentText>
        {children}
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="contained" color={confirmColor} disabled={!isReady} onClick={onConfirm}>
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface DialogButtonProps extends ButtonProps {
  label: string;
  /** Renders the dialog, while it is open. */
  dialog(close: () => void): ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ label, dialog, ...buttonProps }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="outlined" {...buttonProps} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

interface DangerButtonProps {
  label: string;
  title: string;
  content: string;
  confirm: string;
  onConfirm(): void;
}

/** A button for what can't be undone, which asks first. */
export function DangerButton({ label, onConfirm, ...question }: DangerButtonProps) {
  return (
    <DialogButton
      label={label}
      variant="text"
      color="error"
      dialog={(close) => (
        <Confirm
          {...question}
          isOpen
          confirmColor="warning"
          onClose={close}
          onConfirm={() => {
            close();
            onConfirm();
          }}
        />
      )}
    />
  );
}

const overlapChoices = [
  { name: 'Immediately', seconds: 0 },
  { name: 'After 1 hour', seconds: 3_600 },
  { name: 'After 1 day', seconds: 86_400 },
  { name: 'After 1 week', seconds: 604_800 },
];

interface OverlapProps {
  title: string;
  text: string;
  confirm: string;
  /** The preselected choice (default: a day). */
  defaultOverlapS?: number;
  onConfirm(overlapS: number): void;
  onClose(): void;
}

/** A dialog to choose how long the old secret remains valid. */
export function OverlapDialog({
  onConfirm,
  defaultOverlapS = 86_400,
  ...dialogProps
}: OverlapProps) {
  const [overlapS, setOverlapS] = useState(defaultOverlapS);
  return (
    <FormDialog {...dialogProps} onConfirm={() => onConfirm(overlapS)}>
      <TextField
        select
        label="Revoke the old one"
        value={overlapS}
        onChange={({ target }) => setOverlapS(Number(target.value))}
      >
        {overlapChoices.map(({ name, seconds }) => (
          <MenuItem key={seconds} value={seconds}>
            {name}
          </MenuItem>
        ))}
      </TextField>
    </FormDialog>
  );
}

interface SecretDialogProps {
  /** The secret. If it is undefined, the dialog is hidden. */
  text: string | undefined;
  title: string;
  /** Instructions for using the secret. */
  instructions: string;
  onClose(): void;
}

/**
 * Shows a secret that cannot be retrieved later. Only its button closes the dialog, so that a stray click cannot
 * discard the secret.
 */
export function SecretDialog({ text, title, instructions, onClose }: SecretDialogProps) {
  return (
    <Dialog open={text !== undefined} maxWidth="md" aria-labelledby="shown-once-title">
      <DialogTitle id="shown-once-title">{title}</DialogTitle>
      <DialogContent>
        <Alert severity="warning" sx={{ marginBottom: 2 }}>
          Copy it now; you won’t see it again.
        </Alert>
        <DialogContentText sx={{ marginBottom: 1 }}>{instructions}</DialogContentText>
        <CopyText text={text ?? ''} label={title} />
      </DialogContent>
      <DialogActions>
        <Button variant="contained" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
