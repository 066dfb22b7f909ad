import CodeIcon from '@mui/icons-material/Code';
import { Box } from '@mui/material';
import type { Creative, Media } from '@trueward/protocol/wire';
import { useRecordContext } from 'react-admin';
import { StatusChip } from '../common/status-chip.tsx';

const size = { width: 64, height: 36 };
const pictureStyle = { ...size, objectFit: 'contain' as const };

/** The URL of a file to show in small, if it can be shown. Other URLs than http(s) could run scripts in the panel. */
function findPicture(media: Media): string | undefined {
  if (media.format === 'html') return undefined;
  const url = media.files[0]?.url;
  return url !== undefined && /^(https?:|\/)/i.test(url) ? url : undefined;
}

/** A creative in small: its picture, or the beginning of its video. It is decorative, next to the creative's name. */
export function Thumbnail({ media }: { media: Media }) {
  const url = findPicture(media);
  return (
    <Box sx={thumbnailStyle} aria-hidden="true">
      {url === undefined ? (
        <CodeIcon fontSize="small" color="disabled" />
      ) : media.format === 'video' ? (
        // The first frame is often black.
        <video src={`${url}#t=1`} preload="metadata" muted playsInline style={pictureStyle} />
      ) : (
        <img src={url} alt="" loading="lazy" style={pictureStyle} />
      )}
    </Box>
  );
}

const thumbnailStyle = {
  ...size,
  flexShrink: 0,
  display: 'flex',
  alignItems: 'center',
  justifyContent: 'center',
  overflow: 'hidden',
  borderRadius: 0.5,
  backgroundColor: 'action.hover',
};

/** The current creative with its thumbnail and, unless it is approved, its review state. */
export function CreativeSummary() {
  const creative = useRecordContext<Creative>();
  if (!creative) return null;
  const { name, media, review } = creative;
  return (
    <Box sx={{ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: 1 }}>
      <Thumbnail media={media} />
      <Box component="span" sx={{ flex: '1 1 88px', overflowWrap: 'anywhere' }}>
        {name}
      </Box>
      {review.status !== 'approved' && <StatusChip status={review.status} />}
    </Box>
  );
}
