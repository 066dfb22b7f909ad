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

/**
 * The type of a file by what is in it; neither its name nor who sends it is asked. Undefined: none of ours.
 */
export function sniffMediaType(body: Buffer): MediaType | undefined {
  const starts = (bytes: string) => body.subarray(0, bytes.length).toString('latin1') === bytes;
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && body.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  if (body.toString('latin1', 4, 8) === 'ftyp') return brandType(body);
  // The DocType is one of the first elements of the header.
  if (starts('\x1a\x45\xdf\xa3')) {
    return body.toString('latin1', 0, 64).includes('\x42\x82\x84webm') ? 'video/webm' : undefined;
  }
  return textType(body);
}

/** ISO base media files say in their first box what they are: HEIC pictures and QuickTime films are not ours. */
function brandType(body: Buffer): MediaType | undefined {
  const end = Math.min(body.readUInt32BE(0), body.length, 256);
  const brands = [body.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(body.toString('latin1', at, at + 4));
  if (brands.includes('avif')) return 'image/avif';
  return brands.some((brand) => /^(iso\w|mp4\w|avc1|dash|M4V )$/.test(brand))
    ? 'video/mp4'
    : undefined;
}

// A comment ends at its first end: could it end later, many of them would be tried in every combination.
const htmlStart = /^(?:\s|<!--(?:(?!-->)[^])*-->)*<(?:!doctype html|html|head|body)[\s>]/i;
const svgStart = /^(?:\s|<\?xml[^>]*\?>|<!--(?:(?!-->)[^])*-->|<!doctype svg[^>[]*>)*<svg[\s>]/i;
const startBytes = 4_096;

function textType(body: Buffer): MediaType | undefined {
  if (body.includes(0)) return undefined;
  const start = body
    .subarray(0, startBytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (svgStart.test(start)) return 'image/svg+xml';
  return htmlStart.test(start) ? 'text/html' : undefined;
}
