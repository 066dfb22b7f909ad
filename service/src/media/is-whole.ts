import type { MediaType } from './media-type.ts';

/** Whether a file reaches to its own end; half of a video can still be opened, and stops in the middle. */
export function isWhole(type: MediaType, body: Buffer): boolean {
  switch (type) {
    case 'video/mp4':
    case 'image/avif':
      return hasWholeBoxes(body, type === 'video/mp4' ? ['moov', 'mdat'] : ['meta', 'mdat']);
    case 'video/webm':
      return hasWholeSegment(body);
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

/** Boxes of ISO/IEC 14496-12 (4.2): a size of 1 is followed by a longer one; 0 goes to the end. */
function hasWholeBoxes(body: Buffer, needed: readonly string[]): boolean {
  const found = new Set<string>();
  let at = 0;
  while (at + 8 <= body.length) {
    const short = body.readUInt32BE(at);
    if (short === 1 && at + 16 > body.length) return false;
    const size =
      short === 1 ? Number(body.readBigUInt64BE(at + 8)) : short === 0 ? body.length - at : short;
    if (size < 8 || at + size > body.length) return false;
    found.add(body.toString('latin1', at + 4, at + 8));
    at += size;
  }
  return at === body.length && needed.every((name) => found.has(name));
}

/** A header and a segment of EBML (RFC 8794, 4 and 5); a stream that was never closed has no size. */
function hasWholeSegment(body: Buffer): boolean {
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
  const unknown = size === 2n ** BigInt(7 * length) - 1n;
  return { size: unknown ? undefined : Number(size), end: at + length };
}
