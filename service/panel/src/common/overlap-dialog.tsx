import { MenuItem, TextField } from '@mui/material';
import { useState } from 'react';
import { AskDialog } from './ask-dialog.tsx';

const overlaps = [
  { name: 'None: revoke it now', seconds: 0 },
  { name: '1 hour', seconds: 3_600 },
  { name: '1 day', seconds: 86_400 },
  { name: '1 week', seconds: 604_800 },
];

interface Props {
  title: string;
  text: string;
  confirm: string;
  onConfirm(overlapS: number): void;
  onClose(): void;
}

/** Asks how long the old secret stays valid along with the new one. */
export function OverlapDialog({ onConfirm, ...texts }: Props) {
  const [overlapS, setOverlapS] = useState(86_400);
  return (
    <AskDialog {...texts} onConfirm={() => onConfirm(overlapS)}>
      <TextField
        select
        label="The old one still works for"
        value={overlapS}
        onChange={({ target }) => setOverlapS(Number(target.value))}
      >
        {overlaps.map(({ name, seconds }) => (
          <MenuItem key={seconds} value={seconds}>
            {name}
          </MenuItem>
        ))}
      </TextField>
    </AskDialog>
  );
}
