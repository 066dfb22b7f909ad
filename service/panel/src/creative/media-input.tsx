import UploadFileIcon from '@mui/icons-material/UploadFile';
import { Alert, Box, Button, Link, Typography } from '@mui/material';
import type { Media } from '@trueward/protocol/wire';
import { type ChangeEvent, useId, useRef, useState } from 'react';
import { required, useInput } from 'react-admin';
import { readMessage } from '../api/problem.ts';
import { query } from '../api/resources.ts';
import { useCall } from '../api/use-call.ts';
import { Facts } from '../common/facts.tsx';
import { addUploadedFile, type UploadedMedia, formatBytes } from './uploaded-media.ts';

/** Shows a creative's media and uploads new files. */
export function MediaInput() {
  const { field, fieldState } = useInput<Media | ''>({ source: 'media', validate: required() });
  const media = field.value === '' ? undefined : field.value;
  const upload = useUpload((uploadedMedia) =>
    field.onChange(addUploadedFile(uploadedMedia, media)),
  );
  const fileInput = useRef<HTMLInputElement>(null);
  const label = useId();
  return (
    <Box
      role="group"
      aria-labelledby={label}
      tabIndex={-1}
      data-invalid={fieldState.invalid}
      sx={{ width: '100%', marginBottom: 2 }}
    >
      <Typography id={label} component="h2" variant="h3">
        Media
      </Typography>
      <Typography variant="body2" color="textSecondary">
        MP4 or WebM, PNG, JPEG, WebP, GIF, AVIF, SVG or HTML, at most 20 MiB. A second encoding of
        the same video is added to the first.
      </Typography>
      <Button
        variant="outlined"
        startIcon={<UploadFileIcon />}
        disabled={upload.isBusy}
        onClick={() => fileInput.current?.click()}
        sx={{ marginBlock: 1 }}
      >
        {upload.isBusy ? 'Uploading…' : 'Upload a file'}
      </Button>
      <input ref={fileInput} type="file" hidden onChange={upload.onFileChosen} />
      <div role="status">
        {upload.errorMessage !== undefined && <Alert severity="error">{upload.errorMessage}</Alert>}
        {upload.uploadedMedia && <UploadedFacts uploadedMedia={upload.uploadedMedia} />}
      </div>
      {fieldState.error && <Alert severity="error">Media: upload a file.</Alert>}
      {media && <MediaFacts media={media} />}
    </Box>
  );
}

function useUpload(onUpload: (uploadedMedia: UploadedMedia) => void) {
  const call = useCall();
  const [isBusy, setBusy] = useState(false);
  const [uploadedMedia, setUploaded] = useState<UploadedMedia>();
  const [errorMessage, setErrorMessage] = useState<string>();

  async function upload(file: File): Promise<void> {
    setBusy(true);
    setErrorMessage(undefined);
    try {
      const path = query('/panel/api/media', { name: file.name });
      const { body } = await call<UploadedMedia>(path, { method: 'POST', body: file });
      setUploaded(body);
      onUpload(body);
    } catch (error) {
      setErrorMessage(readMessage(error));
    } finally {
      setBusy(false);
    }
  }
  return {
    isBusy,
    uploadedMedia,
    errorMessage,
    onFileChosen({ target }: ChangeEvent<HTMLInputElement>) {
      const file = target.files?.[0];
      // Allow choosing the same file again.
      target.value = '';
      if (file) void upload(file);
    },
  };
}

function UploadedFacts({ uploadedMedia }: { uploadedMedia: UploadedMedia }) {
  const { width, height, duration_ms: durationMs } = uploadedMedia;
  return (
    <Alert severity="success" sx={{ marginBottom: 1 }}>
      <Typography variant="body2">File details:</Typography>
      <Facts
        facts={{
          Type: uploadedMedia.mime,
          Size: formatBytes(uploadedMedia.bytes),
          Pixels: width && height ? `${width} × ${height}` : undefined,
          Duration: durationMs === undefined ? undefined : `${(durationMs / 1_000).toFixed(1)} s`,
          'Video codec': uploadedMedia.video_codec,
          'Audio codec': uploadedMedia.audio_codec,
          'SHA-256': uploadedMedia.sha256,
        }}
      />
    </Alert>
  );
}

/** Describes a creative's media. */
function MediaFacts({ media }: { media: Media }) {
  if (media.format === 'html') {
    return (
      <Facts
        facts={{
          Format: 'HTML',
          Size: `${media.width} × ${media.height}`,
          URL: media.url && <FileLink url={media.url} />,
          'Inline HTML': media.inline && `${media.inline.length} characters`,
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
        Duration: media.format === 'video' ? `${media.duration_ms / 1_000} s` : undefined,
        ...(Object.fromEntries(files) as Record<string, React.ReactNode>),
      }}
    />
  );
}

/** Renders only http(s) URLs as links, because other URLs could run scripts in the panel. */
const FileLink = ({ url }: { url: string }) =>
  /^https?:/i.test(url) ? (
    <Link href={url} target="_blank" rel="noopener noreferrer">
      {url}
    </Link>
  ) : (
    <>{url}</>
  );
