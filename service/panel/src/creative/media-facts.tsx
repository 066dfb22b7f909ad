import { Link } from '@mui/material';
import type { Media } from '@trueward/protocol/wire';
import { Facts } from '../common/facts.tsx';

/** The media of a creative, in words. */
export function MediaFacts({ media }: { media: Media }) {
  if (media.format === 'html') {
    return (
      <Facts
        facts={{
          Format: 'HTML',
          Size: `${media.width} × ${media.height}`,
          Address: media.url && <FileLink url={media.url} />,
          Text: media.inline && `${media.inline.length} characters`,
        }}
      />
    );
  }
  const files = media.files.map(({ url, mime, width, height }) => [
    `${mime}, ${width} × ${height}`,
    <FileLink key={url} url={url} />,
  ]);
  return (
    <Facts
      facts={{
        Format: media.format,
        Length: media.format === 'video' ? `${media.duration_ms / 1_000} s` : undefined,
        ...(Object.fromEntries(files) as Record<string, React.ReactNode>),
      }}
    />
  );
}

/** Only http(s) is made a link: anything else could run script here. */
const FileLink = ({ url }: { url: string }) =>
  /^https?:/i.test(url) ? (
    <Link href={url} target="_blank" rel="noopener noreferrer">
      {url}
    </Link>
  ) : (
    <>{url}</>
  );
