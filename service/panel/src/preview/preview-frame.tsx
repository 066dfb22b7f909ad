import { Alert, Box, Typography } from '@mui/material';
import { useEffect, useRef, useState } from 'react';
import type { PreviewAnswer, PreviewMessage } from './preview-message.ts';

interface Props {
  message: PreviewMessage;
  size: { width: number; height: number };
  /** How wide it is shown; the ad itself sees its whole size. */
  shownWidth: number;
}

/** One ad in one size, as the SDK shows it. */
export function PreviewFrame({ message, size: { width, height }, shownWidth }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [answer, setAnswer] = useState<PreviewAnswer>();
  const wanted = JSON.stringify(message);

  useEffect(() => {
    // Its origin is opaque, so no other target can be named.
    const tell = () => frame.current?.contentWindow?.postMessage(JSON.parse(wanted), '*');
    const hear = ({ data, source }: MessageEvent<PreviewAnswer>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.trueward === 'ready') tell();
      else setAnswer(data);
    };
    addEventListener('message', hear);
    tell();
    return () => removeEventListener('message', hear);
  }, [wanted]);

  const scale = Math.min(1, shownWidth / width);
  const name = `${width} × ${height}`;
  return (
    <Box component="figure" sx={{ margin: 0, maxWidth: '100%' }}>
      <Box
        sx={{ width: width * scale, height: height * scale, overflow: 'hidden', borderRadius: 1 }}
      >
        <iframe
          ref={frame}
          src="/panel/preview.html"
          title={`Preview at ${name}`}
          // Display only: it takes neither keyboard focus nor clicks.
          inert
          sandbox="allow-scripts"
          allow="autoplay"
          data-state={answer?.trueward ?? 'loading'}
          width={width}
          height={height}
          style={{ border: 0, transform: `scale(${scale})`, transformOrigin: '0 0' }}
        />
      </Box>
      <Typography component="figcaption" variant="body2" color="textSecondary">
        {name}
      </Typography>
      {answer?.trueward === 'failed' && (
        <Alert severity="error">Cannot be shown: {answer.reason}.</Alert>
      )}
    </Box>
  );
}
