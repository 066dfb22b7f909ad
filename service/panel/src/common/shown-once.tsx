import {
  Alert,
  Button,
  Dialog,
  DialogActions,
  DialogContent,
  DialogContentText,
  DialogTitle,
} from '@mui/material';
import { CopyText } from './copy-text.tsx';

interface Props {
  /** The secret; absent: hidden. */
  text: string | undefined;
  title: string;
  /** What to do with it. */
  advice: string;
  onClose(): void;
}

/** A secret that is shown only once. Only its button closes it, never a stray click. */
export function ShownOnce({ text, title, advice, onClose }: Props) {
  return (
    <Dialog open={text !== undefined} maxWidth="md" aria-labelledby="shown-once-title">
      <DialogTitle id="shown-once-title">{title}</DialogTitle>
      <DialogContent>
        <Alert severity="warning" sx={{ marginBottom: 2 }}>
          Copy it now; you won’t see it again.
        </Alert>
        <DialogContentText sx={{ marginBottom: 1 }}>{advice}</DialogContentText>
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
