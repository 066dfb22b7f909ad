import { Box, useMediaQuery } from '@mui/material';
import type { Creative, Placement } from '@trueward/protocol/wire';
import { PanelCard } from '../common/panel-card.tsx';
import { PreviewFrame } from './preview-frame.tsx';
import { previewSizes } from './preview-message.ts';

interface Props {
  title: string;
  creative: Pick<Creative, 'id' | 'media' | 'alt' | 'click_url'>;
  reward?: Placement['reward'] | undefined;
  format?: Placement['format'];
  /** Absent: every size. */
  sizes?: readonly { width: number; height: number }[];
}

/** A creative in several sizes, by the SDK’s own renderers. */
export function CreativePreview(props: Props) {
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
