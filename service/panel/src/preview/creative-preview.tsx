import { Alert, Box, Typography, useMediaQuery } from '@mui/material';
import type { Creative, Placement } from '@trueward/protocol/wire';
import { useEffect, useRef, useState } from 'react';
import { PanelCard } from '../common/page.tsx';
import { type PreviewAnswer, type PreviewMessage, previewSizes } from './preview-message.ts';

interface PreviewProps {
  title: string;
  creative: Pick<Creative, 'id' | 'media' | 'alt' | 'click_url'>;
  reward?: Placement['reward'] | undefined;
  format?: Placement['format'];
  /** Absent: every size. */
  sizes?: readonly { width: number; height: number }[];
}

/** A creative in several sizes, by the SDK’s own renderers. */
export function CreativePreview(props: PreviewProps) {
  const { title, creative, reward, format = 'interstitial', sizes = previewSizes } = props;
  const isPhone = useMediaQuery('(max-width: 600px)');
  const { id, media, alt, click_url: clickUrl } = creative;
  const shown = { id, media, alt, ...(clickUrl ? { click_url: clickUrl } : {}) };
  return (
    <PanelCard title={title}>
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 2, alignItems: 'flex-end' }}>
        {sizes.map((size) => (
          <PreviewFrame
            key={size.width}
            size={size}
            shownWidth={isPhone ? 260 : Math.max(160, size.width / 3.6)}
            message={{ trueward: 'preview', creative: shown, format, reward }}
          />
        ))}
      </Box>
    </PanelCard>
  );
}

interface FrameProps {
  message: PreviewMessage;
  size: { width: number; height: number };
  /** How wide it is shown; the ad itself sees its whole size. */
  shownWidth: number;
}

/** One ad in one size, as the SDK shows it. */
function PreviewFrame({ message, size: { width, height }, shownWidth }: FrameProps) {
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
        <Alert severity="error">Cannot show this ad: {answer.reason}.</Alert>
      )}
    </Box>
  );
}
