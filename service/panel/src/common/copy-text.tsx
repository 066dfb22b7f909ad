import ContentCopyIcon from '@mui/icons-material/ContentCopy';
import { Box, Button } from '@mui/material';
import { useState } from 'react';

interface Props {
  text: string;
  label: string;
  /** Whether the text has several lines. */
  isBlock?: boolean;
}

/** Text with a copy button. */
export function CopyText({ text, label, isBlock = false }: Props) {
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
        component={isBlock ? 'pre' : 'code'}
        tabIndex={isBlock ? 0 : undefined}
        aria-label={label}
        role="group"
        sx={{
          overflowWrap: 'anywhere',
          ...(isBlock && { margin: 0, width: '100%', whiteSpace: 'pre-wrap' }),
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
