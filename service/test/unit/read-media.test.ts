import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sniffMediaType } from '../../src/media/media-type.ts';
import { readMedia } from '../../src/media/read-media.ts';
import { RefusedError } from '../../src/platform/refused-error.ts';

const demo = (file: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../demo/creatives/dist/${file}`, import.meta.url)));

const files = ['meadow.mp4', 'meadow.webm', 'harbour.png', 'meadow-poster.jpg'].map(demo);

/** A real file with some bytes changed, most of them where its structure is, and perhaps cut. */
const spoilt = fc
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
  .map(({ file, changes, cut }) => {
    const body = Buffer.from(file);
    for (const { at, to } of changes) body[at % body.length] = to;
    return cut === null ? body : body.subarray(0, cut);
  });

test('whatever is in a file, it is read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(spoilt, fc.uint8Array({ maxLength: 200 })), async (bytes) => {
      const facts = await readMedia(Buffer.from(bytes)).catch((error: unknown) => error);
      if (facts instanceof Error) expect(facts).toBeInstanceOf(RefusedError);
      else expect(facts).toHaveProperty('type');
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
])('%j is %s', (text, type) => {
  expect(sniffMediaType(Buffer.from(text))).toBe(type);
});

test('what only a slow pattern would puzzle over is looked at in a moment', () => {
  expect(sniffMediaType(Buffer.from('<!---->'.repeat(580)))).toBeUndefined();
  expect(sniffMediaType(Buffer.from('<!--'.repeat(250_000)))).toBeUndefined();
  expect(sniffMediaType(Buffer.from(`<!---->${' '.repeat(4_000)}x`.repeat(100)))).toBeUndefined();
  expect(sniffMediaType(Buffer.from(' '.repeat(4_096)))).toBeUndefined();
});
