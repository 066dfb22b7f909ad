import {
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
} from '@mui/material';
import { type ReactNode, useId } from 'react';

interface Props {
  title: string;
  text: string;
  /** The fields. */
  children: ReactNode;
  confirm: string;
  confirmColor?: 'primary' | 'error';
  /** Whether it can be confirmed; by default true. */
  isReady?: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** A dialog that asks for input before an action. */
export function AskDialog(props: Props) {
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
