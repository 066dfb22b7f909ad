// `file-type` detects most accepted formats. This module also detects HTML, SVG, and AVIF files whose major brand is
// generic.

/** Media types that creatives may use, with their file extensions. */
const mediaExtensions = {
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

/** Extensions of stored files, by media type. */
export const storedExtensions = { ...mediaExtensions, 'text/vtt': 'vtt' } as const;

export type StoredType = keyof typeof storedExtensions;

/** Whether a browser could run scripts in files of this type. */
export const isActive = (type: MediaType): boolean =>
  type === 'text/html' || type === 'image/svg+xml';

/** Accepted types, keyed by the type that `file-type` detects. Animated PNG counts as PNG, and M4V as MP4. */
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

/**
 * Number of bytes to inspect. Enough to detect every accepted format, but few enough to bound the work that a hostile
 * file can cause.
 */
const startBytes = 4_096;

/** Detects a file's type from its content only. Resolves to undefined if the type is not accepted. */
export async function sniffMediaType(body: Buffer): Promise<MediaType | undefined> {
  const text = sniffTextType(body);
  if (text) return text;
  // Loaded on the first upload, because loading takes 50 ms.
  const { fileTypeFromBuffer } = await import('file-type');
  const detected = await fileTypeFromBuffer(body.subarray(0, startBytes));
  if (detected?.mime === 'image/heif') return hasBrand(body, 'avif') ? 'image/avif' : undefined;
  return acceptedTypes[detected?.mime ?? ''];
}

/** Whether an ISO base media file lists a brand as compatible (ISO/IEC 14496-12, 4.3). */
function hasBrand(body: Buffer, brand: string): boolean {
  const end = Math.min(body.readUInt32BE(0), body.length, 256);
  for (let offset = 16; offset + 4 <= end; offset += 4)
    if (body.toString('latin1', offset, offset + 4) === brand) return true;
  return false;
}

// The patterns end a comment at its first `-->`, because many comments would otherwise cause catastrophic backtracking.
const htmlStart = /^(?:\s|<!--(?:(?!-->)[^])*-->)*<(?:!doctype html|html|head|body)[\s>]/i;
const svgStart = /^(?:\s|<\?xml[^>]*\?>|<!--(?:(?!-->)[^])*-->|<!doctype svg[^>[]*>)*<svg[\s>]/i;

function sniffTextType(body: Buffer): MediaType | undefined {
  if (body.includes(0)) return undefined;
  const start = body
    .subarray(0, startBytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  if (svgStart.test(start)) return 'image/svg+xml';
  return htmlStart.test(start) ? 'text/html' : undefined;
}

/** Whether a file is complete. Video players open truncated videos, but playback stops partway through. */
export function isComplete(type: MediaType, body: Buffer): boolean {
  switch (type) {
    case 'video/mp4':
    case 'image/avif':
      return hasCompleteBoxes(body, type === 'video/mp4' ? ['moov', 'mdat'] : ['meta', 'mdat']);
    case 'video/webm':
      return hasCompleteSegment(body);
    case 'image/png':
      return body.includes('IEND', 8, 'latin1');
    case 'image/jpeg':
      return body.lastIndexOf('\xff\xd9', undefined, 'latin1') > 0;
    case 'image/gif':
      return body.lastIndexOf('\x3b', undefined, 'latin1') > 0;
    case 'image/webp':
      return body.readUInt32LE(4) + 8 <= body.length;
    default:
      return true;
  }
}

/**
 * Whether a file consists of complete ISO/IEC 14496-12 boxes (4.2). If a box's 32-bit size is 1, a 64-bit size follows.
 * If the size is 0, the box extends to the end of the file.
 */
function hasCompleteBoxes(body: Buffer, required: readonly string[]): boolean {
  const types = new Set<string>();
  let at = 0;
  while (at + 8 <= body.length) {
    const size32 = body.readUInt32BE(at);
    if (size32 === 1 && at + 16 > body.length) return false;
    const size =
      size32 === 1
        ? Number(body.readBigUInt64BE(at + 8))
        : size32 === 0
          ? body.length - at
          : size32;
    if (size < 8 || at + size > body.length) return false;
    types.add(body.toString('latin1', at + 4, at + 8));
    at += size;
  }
  return at === body.length && required.every((type) => types.has(type));
}

/**
 * Whether a WebM file's segment is complete (RFC 8794, 4 and 5). In an unfinished recording, the segment has no size.
 */
function hasCompleteSegment(body: Buffer): boolean {
  const header = readSize(body, 4);
  if (!header || header.size === undefined) return false;
  const segmentAt = header.end + header.size;
  if (body.toString('hex', segmentAt, segmentAt + 4) !== '18538067') return false;
  const segment = readSize(body, segmentAt + 4);
  return segment?.size !== undefined && segment.end + segment.size <= body.length;
}

function readSize(body: Buffer, at: number): { size: number | undefined; end: number } | undefined {
  const first = body[at];
  if (first === undefined || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > body.length) return undefined;
  let size = BigInt(first & (0xff >> length));
  for (const byte of body.subarray(at + 1, at + length)) size = size * 256n + BigInt(byte);
  const isUnknown = size === 2n ** BigInt(7 * length) - 1n;
  return { size: isUnknown ? undefined : Number(size), end: at + length };
}
