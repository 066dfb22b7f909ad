import { Alert, Box, Typography, useMediaQuery } from '@mui/material';
import type { DecisionCreative, Placement } from '@trueward/protocol/wire';
import { useEffect, useRef, useState } from 'react';
import { PanelCard } from '../common/page.tsx';
import { type PreviewReply, type PreviewMessage, previewSizes } from './preview-message.ts';

interface PreviewProps {
  title: string;
  /** A stored creative, or a creative from a decision. Only the latter can have an icon and a skip control. */
  creative: DecisionCreative;
  reward?: Placement['reward'] | undefined;
  format?: Placement['format'];
  /** Default: all preview sizes. */
  sizes?: readonly { width: number; height: number }[];
}

/** Previews a creative in several sizes with the SDK’s renderers. */
export function CreativePreview(props: PreviewProps) {
  const { title, creative, reward, format = 'interstitial', sizes = previewSizes } = props;
  const isPhone = useMediaQuery('(max-width: 600px)');
  const { media, alt, advertiser, icon } = creative;
  const { click_url: clickUrl, skip_after_ms: skipAfterMs } = creative;
  const previewedCreative = {
    media,
    alt,
    ...(clickUrl ? { click_url: clickUrl } : {}),
    ...(advertiser === undefined ? {} : { advertiser }),
    ...(icon ? { icon } : {}),
    ...(skipAfterMs === undefined ? {} : { skip_after_ms: skipAfterMs }),
  };
  return (
    <PanelCard title={title}>
      <Box sx={{ display: 'flex', flexWrap: 'wrap', gap: 2, alignItems: 'flex-end' }}>
        {sizes.map((size) => (
          <PreviewFrame
            key={size.width}
            size={size}
            shownWidth={isPhone ? 260 : Math.max(160, size.width / 3.6)}
            message={{ trueward: 'preview', creative: previewedCreative, format, reward }}
          />
        ))}
      </Box>
      {format !== 'banner' && reward === undefined && (
        <Typography variant="body2" color="textSecondary">
          The title is the alt text. For a placement with a reward, it is the reward.
        </Typography>
      )}
    </PanelCard>
  );
}

interface FrameProps {
  message: PreviewMessage;
  size: { width: number; height: number };
  /** The displayed width. The frame is scaled down, but the ad inside it is laid out at full size. */
  shownWidth: number;
}

const typingPauseMs = 600;

/** Previews an ad in one size. */
function PreviewFrame({ message, size: { width, height }, shownWidth }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [reply, setReply] = useState<PreviewReply>();
  const messageJson = JSON.stringify(message);

  useEffect(() => {
    // The frame has an opaque origin, so a target origin can't be specified.
    const send = () => frame.current?.contentWindow?.postMessage(JSON.parse(messageJson), '*');
    const onMessage = ({ data, source }: MessageEvent<PreviewReply>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.trueward === 'ready') send();
      else setReply(data);
    };
    addEventListener('message', onMessage);
    // Waits until the user has stopped typing, because each message loads the media again.
    const timer = setTimeout(send, typingPauseMs);
    return () => {
      clearTimeout(timer);
      removeEventListener('message', onMessage);
    };
  }, [messageJson]);

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
          // Display only: no keyboard focus or clicks.
          inert
          sandbox="allow-scripts"
          allow="autoplay"
          data-state={reply?.trueward ?? 'loading'}
          width={width}
          height={height}
          style={{ border: 0, transform: `scale(${scale})`, transformOrigin: '0 0' }}
        />
      </Box>
      <Typography component="figcaption" variant="body2" color="textSecondary">
        {name}
      </Typography>
      {reply?.trueward === 'failed' && (
        <Alert severity="error">Cannot show this ad: {reply.reason}.</Alert>
      )}
    </Box>
  );
}
