// `file-type` knows the binary formats; it tells neither HTML nor SVG from other text, nor a general image brand from AVIF.

/** The types of file that an ad can be made of, and what their names end with. */
export const mediaExtensions = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'text/html': 'html',
} as const;

export type MediaType = keyof typeof mediaExtensions;

/** Whether a browser could run it. */
export const isActive = (type: MediaType): boolean =>
  type === 'text/html' || type === 'image/svg+xml';

/** What `file-type` calls the formats that are accepted; animated PNG is PNG, and M4V is MP4. */
const acceptedTypes: Partial<Record<string, MediaType>> = {
  'video/mp4': 'video/mp4',
  'video/x-m4v': 'video/mp4',
  'video/webm': 'video/webm',
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
  'image/avif': 'image/avif',
};

/** All that the accepted formats need; nothing is unpacked from further on in a hostile file. */
const startBytes = 4_096;

/**
 * The type of a file by its content; neither its name nor its sender is asked. Undefined when it is
 * none that is accepted.
 */
export async function sniffMediaType(body: Buffer): Promise<MediaType | undefined> {
  const text = textType(body);
  if (text) return text;
  // Loaded with the first upload: it takes 50 ms.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(body.subarray(0, startBytes));
  if (found?.mime === 'image/heif') return hasBrand(body, 'avif') ? 'image/avif' : undefined;
  return acceptedTypes[found?.mime ?? ''];
}

/** Whether the first box of an ISO base media file lists a compatible brand (ISO/IEC 14496-12, 4.3). */
function hasBrand(body: Buffer, brand: string): boolean {
  const end = Math.min(body.readUInt32BE(0), body.length, 256);
  for (let at = 16; at + 4 <= end; at += 4)
    if (body.toString('latin1', at, at + 4) === brand) return true;
  return false;
}

// A comment ends at its first end: could it end later, many of them would be tried in every combination.
const htmlStart = /^(?:\s|<!--(?:(?!-->)[^])*-->)*<(?:!doctype html|html|head|body)[\s>]/i;
const svgStart = /^(?:\s|<\?xml[^>]*\?>|<!--(?:(?!-->)[^])*-->|<!doctype svg[^>[]*>)*<svg[\s>]/i;

function textType(body: Buffer): MediaType | undefined {
  if (body.includes(0)) return undefined;
  const start = body
    .subarray(0, startBytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (svgStart.test(start)) return 'image/svg+xml';
  return htmlStart.test(start) ? 'text/html' : undefined;
}
