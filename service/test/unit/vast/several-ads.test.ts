import { describe, expect, test } from 'vitest';
import {
  inline,
  resolve,
  tags,
  createUrl,
  vast,
  wrapper,
  createErrorUrl,
  error,
  unplayableAd,
} from './fixtures.ts';

describe('a document with several ads', () => {
  const createNamedAd = (name: string, ad = '') =>
    inline({
      ad: `id="${name}" ${ad}`,
      body: tags('Impression', `https://t.example/${name}`) + error(name),
    });
  const resolveShownAd = async (documents: Record<string, string>) => {
    const { result } = await resolve(documents);
    return { shown: result.ad?.trackers.impression, errors: result.errors };
  };

  test('shows the first playable ad and reports errors for the earlier ones', async () => {
    expect(
      await resolveShownAd({
        start: vast(unplayableAd('a'), createNamedAd('b'), createNamedAd('c')),
      }),
    ).toEqual({
      shown: ['https://t.example/b'],
      errors: [{ code: 403, urls: [createErrorUrl('a')] }],
    });
  });

  test('prefers a standalone ad over a pod', async () => {
    const start = vast(
      createNamedAd('a', 'sequence="1"'),
      createNamedAd('b', 'sequence="2"'),
      createNamedAd('c'),
    );
    expect(await resolveShownAd({ start })).toEqual({ shown: ['https://t.example/c'], errors: [] });
  });

  test('shows the first ad in a pod and reports 206 for the others', async () => {
    const start = vast(
      createNamedAd('b', 'sequence="2"'),
      unplayableAd('a', 'sequence="1"'),
      createNamedAd('c', 'sequence="3"'),
    );
    expect(await resolveShownAd({ start })).toEqual({
      shown: ['https://t.example/b'],
      errors: [
        { code: 403, urls: [createErrorUrl('a')] },
        { code: 206, urls: [createErrorUrl('c')] },
      ],
    });
  });

  test('treats a pod with a single ad as a standalone ad', async () => {
    const start = vast(createNamedAd('a', 'sequence="1"'), createNamedAd('b'));
    expect(await resolveShownAd({ start })).toEqual({ shown: ['https://t.example/a'], errors: [] });
  });

  test.each([
    ['first', '', 'a'],
    ['first', 'allowMultipleAds="0"', 'a'],
    ['second', 'allowMultipleAds="1"', 'b'],
    ['second', 'allowMultipleAds="TRUE"', 'b'],
  ])('offers its %s ad to a wrapper with %j', async (_which, attributes, lastAd) => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { wrapper: attributes })),
      b: vast(unplayableAd('a'), unplayableAd('b')),
    });
    expect(result.errors.at(-1)?.urls).toEqual([createErrorUrl(lastAd)]);
  });

  test('has no ad if it is a pod and the wrapper does not allow pods', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'))),
      b: vast(createNamedAd('a', 'sequence="1"'), createNamedAd('b', 'sequence="2"')),
    });
    expect(result.noAd).toMatchObject({ code: 303 });
  });

  test('skips wrappers if followAdditionalWrappers is false', async () => {
    const { result, requestedUrls } = await resolve({
      start: vast(wrapper(createUrl('b'), { wrapper: 'followAdditionalWrappers="false"' })),
      b: vast(wrapper(createUrl('c')), createNamedAd('a')),
      c: vast(createNamedAd('c')),
    });
    expect(result.ad?.trackers.impression).toEqual(['https://t.example/a']);
    expect(requestedUrls).toEqual([createUrl('start'), createUrl('b')]);
  });

  test('has no ad if followAdditionalWrappers is false and all its ads are wrappers', async () => {
    const { result } = await resolve({
      start: vast(
        wrapper(createUrl('b'), { wrapper: 'followAdditionalWrappers="0"', body: error('w') }),
      ),
      b: vast(wrapper(createUrl('c'))),
      c: vast(createNamedAd('c')),
    });
    expect(result.errors).toEqual([{ code: 303, urls: [createErrorUrl('w')] }]);
  });

  test.each([
    ['tries', '', 'https://t.example/next'],
    ['tries', 'fallbackOnNoAd="true"', 'https://t.example/next'],
    ['does not try', 'fallbackOnNoAd="false"', undefined],
  ])('%s the next ad after an empty wrapper with %j', async (_what, attributes, expected) => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { wrapper: attributes }), createNamedAd('next')),
      b: vast(),
    });
    expect(result.ad?.trackers.impression?.[0]).toBe(expected);
  });

  test('shows the next ad in a pod after an empty wrapper without fallback', async () => {
    const { result } = await resolve({
      start: vast(
        wrapper(createUrl('b'), { ad: 'sequence="1"', wrapper: 'fallbackOnNoAd="false"' }),
        createNamedAd('next', 'sequence="2"'),
      ),
      b: vast(),
    });
    expect(result.ad?.trackers.impression).toEqual(['https://t.example/next']);
  });

  test('triggers at most ten requests', async () => {
    const manyAds = Array.from({ length: 15 }, (_, index) => wrapper(createUrl(`empty${index}`)));
    const { result, requestedUrls } = await resolve({ start: vast(...manyAds) });
    expect(requestedUrls).toHaveLength(10);
    expect(result.noAd).toMatchObject({ code: 302 });
  });

  test('is limited to ten attempts to read an ad', async () => {
    const manyAds = Array.from({ length: 100 }, (_, index) => unplayableAd(`a${index}`));
    const { result } = await resolve({ start: vast(...manyAds) });
    expect(result.errors).toHaveLength(10);
  });
});
