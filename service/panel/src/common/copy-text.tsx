import ContentCopyIcon from '@mui/icons-material/ContentCopy';
import { Box, Button } from '@mui/material';
import { useState } from 'react';

/** A text with a copy button. */
export function CopyText({ text, label }: { text: string; label: string }) {
  const [message, setMessage] = useState('');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied.');
    } catch {
      // Without HTTPS there is no clipboard API; the text can still be selected.
      setMessage('Copying is not available here. Select the text instead.');
    }
  }
  return (
    <Box sx={{ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: 1 }}>
      <Box
        component="code"
        aria-label={label}
        role="group"
        sx={{
          overflowWrap: 'anywhere',
          padding: 1,
          borderRadius: 1,
          backgroundColor: 'action.hover',
        }}
      >
        {text}
      </Box>
      <Button size="small" startIcon={<ContentCopyIcon />} onClick={() => void copy()}>
        Copy
      </Button>
      <span role="status">{message}</span>
    </Box>
  );
}
