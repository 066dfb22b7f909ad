import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sniffMediaType } from '../../src/media/media-type.ts';
import { readMedia } from '../../src/media/read-media.ts';
import { DomainError } from '../../src/platform/domain-error.ts';

const readDemoFile = (file: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../demo/creatives/dist/${file}`, import.meta.url)));

const files = ['meadow.mp4', 'meadow.webm', 'harbour.png', 'meadow-poster.jpg'].map(readDemoFile);

/**
 * Generates corrupted copies of real files. Overwrites bytes, mostly near the start, and truncates some of the copies.
 */
const corruptedFile = fc
  .record({
    file: fc.constantFrom(...files),
    changes: fc.array(
      fc.record({
        at: fc.oneof(fc.nat(400), fc.nat()),
        to: fc.constantFrom(0, 1, 0x7f, 0x80, 0xff),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    cut: fc.option(fc.nat(3_000)),
  })
  .map(({ file, changes, cut: length }) => {
    const body = Buffer.from(file);
    for (const { at, to } of changes) body[at % body.length] = to;
    return length === null ? body : body.subarray(0, length);
  });

test('reading a corrupted file never causes an unexpected error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(corruptedFile, fc.uint8Array({ maxLength: 200 })), async (bytes) => {
      const result = await readMedia(Buffer.from(bytes)).catch((error: unknown) => error);
      if (result instanceof Error) expect(result).toBeInstanceOf(DomainError);
      else expect(result).toHaveProperty('type');
    }),
    { numRuns: 300, seed: 8 },
  );
}, 30_000);

test.each([
  ['\ufeff  <!-- a page -->\n<!DOCTYPE html>', 'text/html'],
  ['<HTML lang="en">', 'text/html'],
  ['<?xml version="1.0"?><!-- drawn --><svg>', 'image/svg+xml'],
  ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"><svg width="1">', 'image/svg+xml'],
  ['<svgx>', undefined],
  ['<script>1</script>', undefined],
  ['{"html": "<html>"}', undefined],
  ['<html>\0', undefined],
])('the text %j has the media type %s', async (text, type) => {
  expect(await sniffMediaType(Buffer.from(text))).toBe(type);
});

/** Creates a file type box (ISO/IEC 14496-12, section 4.3) with a major brand and compatible brands. */
const ftyp = (...brands: string[]): string =>
  `\0\0\0${String.fromCharCode(12 + 4 * brands.length)}ftyp${brands[0]}\0\0\0\0${brands.slice(1).join('')}    `;

test.each([
  ['PNG', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'image/png'],
  [
    'an animated PNG',
    `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0'.repeat(17)}\0\0\0\bacTL${'\0'.repeat(12)}`,
    'image/png',
  ],
  [
    'a PNG with a large ICC profile before its image data',
    `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0'.repeat(17)}\0\0\x20\0iCCP${'\0'.repeat(8_196)}\0\0\0\0IDAT`,
    'image/png',
  ],
  ['JPEG', '\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
  ['GIF', 'GIF89a\x01\0\x01\0', 'image/gif'],
  ['WebP', 'RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
  ['WebM', '\x1a\x45\xdf\xa3\x87\x42\x82\x84webm', 'video/webm'],
  ['Matroska', '\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska', undefined],
  ['AVIF', ftyp('avif', 'avif', 'mif1'), 'image/avif'],
  ['AVIF with a generic major brand', ftyp('mif1', 'avif', 'miaf'), 'image/avif'],
  ['AVIF whose brand is the last one', ftyp('mif1', 'miaf', 'avif'), 'image/avif'],
  ['HEIC with a generic major brand', ftyp('mif1', 'heic'), undefined],
  ['HEIC with a brand after its first box', `${ftyp('mif1', 'heic')}avif`, undefined],
  ['HEIC', ftyp('heic', 'mif1'), undefined],
  ['MP4', ftyp('isom', 'isom', 'avc1'), 'video/mp4'],
  ['fragmented MP4', ftyp('iso5', 'dash'), 'video/mp4'],
  ['M4V', ftyp('M4V ', 'M4V '), 'video/mp4'],
  ['QuickTime', ftyp('qt  ', 'qt  '), undefined],
  ['audio only', ftyp('M4A ', 'M4A '), undefined],
  ['WAV', 'RIFF\x10\0\0\0WAVEfmt ', undefined],
  ['XML', '<?xml version="1.0"?><rss>', undefined],
  ['a ZIP archive', 'PK\x03\x04\x14\0\0\0\x08\0mimetypeimage/png', undefined],
  ['an executable', 'MZ\x90\0\x03\0\0\0', undefined],
])('%s is detected by its first bytes', async (_name, bytes, type) => {
  expect(await sniffMediaType(Buffer.from(bytes, 'latin1'))).toBe(type);
});

test('a file that would take a long time to parse is rejected quickly', async () => {
  for (const text of [
    '<!---->'.repeat(580),
    '<!--'.repeat(250_000),
    `<!---->${' '.repeat(4_000)}x`.repeat(100),
    ' '.repeat(4_096),
  ])
    expect(await sniffMediaType(Buffer.from(text))).toBeUndefined();
});

const html = '<!DOCTYPE html>';
test.each<[string, Buffer, string | undefined]>([
  ['of 1 MiB', Buffer.from(html.padEnd(1_048_576)), undefined],
  ['of more than 1 MiB', Buffer.from(html.padEnd(1_048_577)), 'contains more than 1 MiB of text'],
  ['that is not UTF-8', Buffer.from(`${html}\xe9`, 'latin1'), 'is text, but not valid UTF-8'],
])('a page %s is accepted or refused', async (_name, body, message) => {
  const result = await readMedia(body).catch(({ message: text }: DomainError) => text);
  if (message === undefined) expect(result).toEqual({ type: 'text/html' });
  else expect(result).toContain(message);
});

/** A GIF's header: the size is all that is read of it. */
const gif = (width: number, height: number): Buffer => {
  const body = Buffer.from('GIF89a\0\0\0\0\0\0\0;', 'latin1');
  body.writeUInt16LE(width, 6);
  body.writeUInt16LE(height, 8);
  return body;
};
/** A video of 288 frames, each of which takes a 288,000th of its duration. */
const video = (durationMs: number): Buffer => {
  const body = Buffer.from(readDemoFile('meadow.mp4'));
  const [videoHeader, frames] = [body.indexOf('mdhd'), body.indexOf('stts')];
  body.writeUInt32BE(288_000, videoHeader + 16);
  body.writeUInt32BE(durationMs, frames + 16);
  // The sound is shorter.
  body.writeUInt32BE(4_410_000, body.indexOf('mdhd', videoHeader + 1) + 16);
  return body;
};
test.each<[string, Buffer, object | string]>([
  ['a video of 2.5 s', video(2_500), { durationMs: 2_500 }],
  ['a video of 2.499 s', video(2_499), 'is 2.499 s long; a video must be 2.5 to 120 s long'],
  ['a video of 120 s', video(120_000), { durationMs: 120_000 }],
  ['a video of 120.001 s', video(120_001), 'is 120.001 s long; a video must be 2.5 to 120 s long'],
  ['a picture of 8,192 × 1 pixels', gif(8_192, 1), { width: 8_192, height: 1 }],
  ['a picture of 8,193 × 1 pixels', gif(8_193, 1), 'is 8193 × 1 pixels'],
  ['a picture of 1 × 8,193 pixels', gif(1, 8_193), 'is 1 × 8193 pixels'],
  ['a picture of 0 × 1 pixels', gif(0, 1), 'is 0 × 1 pixels'],
  ['a video', readDemoFile('meadow.mp4'), { durationMs: 12_000 }],
])('%s is accepted or refused', async (_name, body, expected) => {
  const result = await readMedia(body).catch(({ message }: DomainError) => message);
  if (typeof expected === 'string') expect(result).toContain(expected);
  else expect(result).toMatchObject(expected);
});
