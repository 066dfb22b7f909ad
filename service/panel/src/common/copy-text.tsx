import ContentCopyIcon from '@mui/icons-material/ContentCopy';
import { Box, Button } from '@mui/material';
import { useState } from 'react';

/** Text with a copy button. */
export function CopyText({ text, label }: { text: string; label: string }) {
  const [message, setMessage] = useState('');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setMessage('Copied.');
    } catch {
      // The clipboard API requires a secure context.
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
