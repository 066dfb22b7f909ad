import { Box, Button, MenuItem, TextField } from '@mui/material';
import type { Creative } from '@trueward/protocol/wire';
import { useState } from 'react';
import { useAction } from '../api/use-call.ts';

const reasons = {
  misleading: 'Misleading',
  unsafe_content: 'Inappropriate for the audience',
  bad_quality: 'Poor image or sound quality',
  broken: 'Broken',
  wrong_destination: 'Misleading link',
  other: 'Other',
};

/** Approves a creative, or rejects it with a reason that its author can read. */
export function ReviewForm({ creative: { id, name } }: { creative: Creative }) {
  const [reasonCode, setReasonCode] = useState('');
  const [feedback, setFeedback] = useState('');
  const { run, isRunning } = useAction({ done: `${name} has been reviewed.` });
  const review = (body: object) => run(`/v1/creatives/${id}/review`, { body });
  return (
    <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 1, alignItems: 'center' }}>
      <Button
        variant="contained"
        color="success"
        disabled={isRunning}
        onClick={() => review({ status: 'approved' })}
      >
        Approve
      </Button>
      <TextField
        select
        size="small"
        fullWidth={false}
        label="Reason"
        value={reasonCode}
        onChange={({ target }) => setReasonCode(target.value)}
        sx={{ minWidth: 200 }}
      >
        {Object.entries(reasons).map(([code, text]) => (
          <MenuItem key={code} value={code}>
            {text}
          </MenuItem>
        ))}
      </TextField>
      <TextField
        size="small"
        fullWidth={false}
        label="Feedback"
        value={feedback}
        onChange={({ target }) => setFeedback(target.value)}
        slotProps={{ htmlInput: { maxLength: 2_000 } }}
        sx={{ flexGrow: 1, minWidth: 200 }}
      />
      <Button
        variant="outlined"
        color="error"
        disabled={isRunning || reasonCode === ''}
        onClick={() =>
          review({
            status: 'rejected',
            reason_code: reasonCode,
            ...(feedback === '' ? {} : { feedback }),
          })
        }
      >
        Reject
      </Button>
    </Box>
  );
}
