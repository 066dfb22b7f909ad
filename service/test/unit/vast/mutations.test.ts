import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import type { VastResult } from '../../../src/demand/vast/resolve.ts';
import { applyEdit, chain, edit } from './edits.ts';
import { resolve, measureStall, maxStall } from './fixtures.ts';

const isWebUrl = (url: string) => /^https:\/\/[^/]/.test(url) && url.length <= 8_192;

function checkResult({ ad, noAd, errors, trace }: VastResult): void {
  expect((ad === undefined) === (noAd === undefined)).toBe(false);
  expect(errors.length).toBeLessThanOrEqual(20);
  expect(errors.flatMap(({ urls }) => urls).every(isWebUrl)).toBe(true);
  expect(trace.length).toBeLessThan(500);
  if (!ad) return;
  const urls = [
    ad.media.url,
    ...Object.values(ad.trackers).flat(),
    ...ad.progress.map(({ url }) => url),
    ...ad.icons.flatMap((icon) => [icon.url, ...icon.clickTrackers, ...icon.viewTrackers]),
    ...ad.captions.map(({ url }) => url),
  ];
  expect(urls.every(isWebUrl)).toBe(true);
  if (ad.clickThrough !== undefined) expect(ad.clickThrough).toMatch(/^https?:\/\//);
  // Storing the ad as JSON must not change it, so it must not contain NaN or undefined.
  expect(JSON.parse(JSON.stringify(ad))).toEqual(ad);
}

test('the original chain resolves to an ad', async () => {
  const { result } = await resolve(chain);
  expect(result.ad?.trackers.start).toHaveLength(3);
});

test('mutated documents do not crash or stall the parser', async () => {
  const edits = fc.array(edit, { minLength: 1, maxLength: 6 });
  const numRuns = inject('full') ? 10_000 : 500;
  let ads = 0;
  await fc.assert(
    fc.asyncProperty(edits, async (list) => {
      const documents = list.reduce(applyEdit, chain);
      const { result, requestedUrls } = await resolve(documents);
      checkResult(result);
      if (result.ad) ads += 1;
      expect(requestedUrls.length).toBeLessThanOrEqual(10);
      expect(await measureStall(documents)).toBeLessThan(maxStall);
    }),
    { numRuns },
  );
  // Most mutations break the document. Some must still resolve to an ad, so that the code that runs after the parser is
  // tested too.
  expect(ads).toBeGreaterThan(numRuns / 10);
});
