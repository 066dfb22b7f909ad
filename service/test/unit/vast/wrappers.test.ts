import { describe, expect, test } from 'vitest';
import {
  inline,
  mp4,
  nowMs,
  resolve,
  rules,
  tags,
  tracking,
  createUrl,
  vast,
  wrapper,
  createErrorUrl,
  error,
  unplayableAd,
} from './fixtures.ts';

describe('a chain of wrappers', () => {
  test('collects trackers from all levels, outermost first', async () => {
    const level = (name: string) => ({
      body:
        tags('Impression', `https://t.example/${name}/impression`) +
        `<ViewableImpression>${tags('Viewable', `https://t.example/${name}/viewable`)}</ViewableImpression>`,
      tracking:
        tracking('start', `https://t.example/${name}/start`) +
        tracking('progress', `https://t.example/${name}/5`, '00:00:05'),
      clicks: tags('ClickTracking', `https://t.example/${name}/click`),
    });
    const { result, requestedUrls } = await resolve({
      start: vast(wrapper(createUrl('b'), level('outer'))),
      b: vast(wrapper(createUrl('c'), level('inner'))),
      c: vast(inline(level('ad'))),
    });
    const createTrackerUrls = (event: string) =>
      ['outer', 'inner', 'ad'].map((name) => `https://t.example/${name}/${event}`);
    expect(result.ad?.trackers).toEqual({
      impression: createTrackerUrls('impression'),
      viewable: createTrackerUrls('viewable'),
      start: createTrackerUrls('start'),
      click: createTrackerUrls('click'),
    });
    expect(result.ad?.progress.map(({ url }) => url)).toEqual(createTrackerUrls('5'));
    expect(result.errors).toEqual([]);
    expect(requestedUrls).toEqual(['start', 'b', 'c'].map(createUrl));
  });

  test('collects trackers from all linear creatives in a wrapper', async () => {
    const secondCreative = `<Creative><Linear><TrackingEvents>${tracking('start', 'https://t.example/2')}</TrackingEvents></Linear></Creative>`;
    const wrapperAd = wrapper(createUrl('b'), {
      tracking: tracking('start', 'https://t.example/1'),
    });
    const { result } = await resolve({
      start: vast(wrapperAd.replace('</Creatives>', `${secondCreative}</Creatives>`)),
      b: vast(inline()),
    });
    expect(result.ad?.trackers.start).toEqual(['https://t.example/1', 'https://t.example/2']);
  });

  test.each([
    ['the ad', { outer: 'o', inner: 'i', ad: 'a' }, 'a'],
    ['the inner wrapper', { outer: 'o', inner: 'i' }, 'i'],
    ['the outer wrapper', { outer: 'o' }, 'o'],
  ])('uses the innermost click-through URL, here from %s', async (_who, linkedLevels, expected) => {
    const { outer, inner, ad }: { outer?: string; inner?: string; ad?: string } = linkedLevels;
    const clicks = (name?: string) =>
      name === undefined ? {} : { clicks: tags('ClickThrough', `https://${name}.example/`) };
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), clicks(outer))),
      b: vast(wrapper(createUrl('c'), clicks(inner))),
      c: vast(inline(clicks(ad))),
    });
    expect(result.ad?.clickThrough).toBe(`https://${expected}.example/`);
  });

  test('shows the innermost icon for each program', async () => {
    const icon = (program: string, file: string) =>
      `<Icon program="${program}"><StaticResource><![CDATA[https://cdn.example/${file}]]></StaticResource></Icon>`;
    const { result } = await resolve({
      start: vast(
        wrapper(createUrl('b'), { icons: icon('AdChoices', 'outer') + icon('Brand', 'brand') }),
      ),
      b: vast(inline({ icons: icon('AdChoices', 'ad') })),
    });
    expect(result.ad?.icons.map(({ url }) => url)).toEqual([
      'https://cdn.example/ad',
      'https://cdn.example/brand',
    ]);
  });

  test('expires as soon as one of its levels expires', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: '<Expires>60</Expires>' })),
      b: vast(inline({ body: '<Expires>600</Expires>' })),
    });
    expect(result.ad?.expiresAtMs).toBe(nowMs + 60_000);
  });

  test('is rejected with 200 when a wrapper allows skipping too early', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { linear: 'skipoffset="00:00:01"', body: error('w') })),
      b: vast(inline()),
    });
    expect(result.noAd).toMatchObject({ code: 200 });
    expect(result.errors).toEqual([{ code: 200, urls: [createErrorUrl('w')] }]);
  });

  const createChain = (wrappers: number) => {
    const names = Array.from({ length: wrappers }, (_, index) => `w${index}`);
    const links = names.map((name, index) => [
      index === 0 ? 'start' : name,
      vast(
        wrapper(createUrl(index + 1 < wrappers ? `w${index + 1}` : 'ad'), {
          body: error(`w${index}`),
        }),
      ),
    ]);
    return { ...Object.fromEntries(links), ad: vast(inline()) } as Record<string, string>;
  };

  test('may contain up to five wrappers', async () => {
    const { result } = await resolve(createChain(5));
    expect(result.ad).toBeDefined();
  });

  test('is rejected with 302 if it contains more than five wrappers', async () => {
    const { result, requestedUrls } = await resolve(createChain(6));
    expect(result.noAd).toMatchObject({ code: 302 });
    expect(result.errors).toEqual([
      { code: 302, urls: [0, 1, 2, 3, 4, 5].map((at) => createErrorUrl(`w${at}`)) },
    ]);
    expect(requestedUrls).toHaveLength(6);
  });

  test('is rejected with 302 if a tag wraps itself', async () => {
    const { result, requestedUrls } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('start') })),
      b: vast(wrapper(createUrl('b'), { body: error('b') })),
    });
    expect(result.noAd).toMatchObject({ code: 302 });
    expect(result.errors).toEqual([
      { code: 302, urls: [createErrorUrl('start'), createErrorUrl('b')] },
    ]);
    expect(requestedUrls).toHaveLength(2);
  });

  test.each([
    'about:blank',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '',
    'http://ads.example/',
  ])('is rejected with 300 when a wrapper refers to %j', async (tagUrl) => {
    const { result, requestedUrls } = await resolve({
      start: vast(wrapper(tagUrl, { body: error('w') })),
    });
    expect(result.noAd).toMatchObject({ code: 300 });
    expect(result.errors).toEqual([{ code: 300, urls: [createErrorUrl('w')] }]);
    expect(requestedUrls).toHaveLength(1);
  });

  test('is rejected with 300 if a tag is too long after macro expansion', async () => {
    const tagUrl = `${createUrl('b')}?${'[DEVICEUA]'.repeat(200)}`;
    const documents = { start: vast(wrapper(tagUrl, { body: error('w') })) };
    const { result, requestedUrls } = await resolve(documents, {
      macros: { DEVICEUA: 'x'.repeat(200) },
    });
    expect(result.errors).toEqual([{ code: 300, urls: [createErrorUrl('w')] }]);
    expect(requestedUrls).toHaveLength(1);
  });

  test('follows http and relative tags where they are allowed', async () => {
    const { result, requestedUrls } = await resolve(
      { start: vast(wrapper('ad')), ad: vast(inline()) },
      { rules: { ...rules, httpTags: true } },
    );
    expect(result.ad).toBeDefined();
    expect(requestedUrls[1]).toBe(createUrl('ad'));
  });

  test('rejects a relative tag in markup without a base URL', async () => {
    const { result } = await resolve(
      {},
      { rules: { ...rules, httpTags: true } },
      { markup: vast(wrapper('ad', { body: error('w') })) },
    );
    expect(result.errors).toEqual([{ code: 300, urls: [createErrorUrl('w')] }]);
  });

  test('reads the tag URL in wrappers older than VAST 2', async () => {
    const tag = `<VASTAdTagURL><URL>${createUrl('ad')}</URL></VASTAdTagURL>`;
    const { result } = await resolve({
      start: vast(`<Ad><Wrapper>${tag}</Wrapper></Ad>`),
      ad: vast(inline()),
    });
    expect(result.ad).toBeDefined();
  });

  test('is rejected with 301 when a document cannot be fetched', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('outer') })),
      b: vast(wrapper(createUrl('missing'), { body: error('inner') })),
    });
    expect(result.noAd).toMatchObject({ code: 301 });
    expect(result.errors).toEqual([
      { code: 301, urls: [createErrorUrl('outer'), createErrorUrl('inner')] },
    ]);
  });

  test('treats an exception during a fetch as a failed fetch', async () => {
    const { result } = await resolve(
      {},
      { fetchDocument: () => Promise.reject(new Error('socket hang up')) },
    );
    expect(result.noAd).toMatchObject({ code: 301, reason: expect.stringContaining('hang up') });
  });

  test('is rejected with 303 when it ends in an empty document', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('w') })),
      b: vast(error('empty')),
    });
    expect(result.noAd).toMatchObject({ code: 303 });
    expect(result.errors).toEqual([
      { code: 303, urls: [createErrorUrl('w'), createErrorUrl('empty')] },
    ]);
  });

  test('treats an empty body as an empty document', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('w') })),
      b: ' \n',
    });
    expect(result.errors).toEqual([{ code: 303, urls: [createErrorUrl('w')] }]);
  });

  test('reports an unplayable ad to every level', async () => {
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('w') })),
      b: vast(unplayableAd('ad')),
    });
    expect(result.noAd).toMatchObject({ code: 403 });
    expect(result.errors).toEqual([
      { code: 403, urls: [createErrorUrl('w'), createErrorUrl('ad')] },
    ]);
  });

  test('shows the video of an interactive ad and reports 409', async () => {
    const simid =
      '<InteractiveCreativeFile type="text/html" apiFramework="SIMID"><![CDATA[https://cdn.example/i.html]]></InteractiveCreativeFile>';
    const { result } = await resolve({
      start: vast(wrapper(createUrl('b'), { body: error('w') })),
      b: vast(inline({ body: error('ad'), media: mp4() + simid })),
    });
    expect(result.ad?.media.url).toBe('https://cdn.example/ad.mp4');
    expect(result.errors).toEqual([
      { code: 409, urls: [createErrorUrl('w'), createErrorUrl('ad')] },
    ]);
  });

  const categories = (blocked: string, category: string) => ({
    start: vast(
      wrapper(createUrl('b?blocked=[BLOCKEDADCATEGORIES]'), { body: error('w') + blocked }),
    ),
    'b?blocked=IAB7': vast(inline({ body: error('ad') + category })),
    'b?blocked=IAB7,IAB8-5': vast(inline({ body: error('ad') + category })),
  });

  test.each([
    ['the same code', 'IAB7', 'https://c.example'],
    ['a subcategory', 'IAB7-39', 'https://c.example'],
    ['a code in lowercase', 'iab7-39', 'https://c.example'],
    ['a code of the same authority by another name', 'IAB7', 'www.C.example'],
    ['a code of the same authority by another URL', 'IAB7', 'http://c.example./'],
  ])('is rejected with 205 when a wrapper blocks %s', async (_what, code, authority) => {
    const { result } = await resolve(
      categories(
        '<BlockedAdCategories authority="https://c.example">IAB7, IAB8-5</BlockedAdCategories>',
        `<Category authority="${authority}">${code}</Category>`,
      ),
    );
    expect(result.noAd).toMatchObject({ code: 205 });
    expect(result.errors).toEqual([
      { code: 205, urls: [createErrorUrl('w'), createErrorUrl('ad')] },
    ]);
  });

  test.each([
    ['another code', '<Category>IAB70</Category>'],
    [
      'the same code from another authority',
      '<Category authority="https://d.example">IAB7</Category>',
    ],
    ['no category', ''],
  ])('is not rejected for a blocked category if the ad has %s', async (_what, category) => {
    const { result } = await resolve(
      categories(
        '<BlockedAdCategories authority="https://c.example">IAB7</BlockedAdCategories>',
        category,
      ),
    );
    expect(result.ad).toBeDefined();
  });
});

describe('the trace', () => {
  test('contains every request, wrapper, ad and error', async () => {
    const { result } = await resolve({
      start: vast(
        wrapper(createUrl('b'), { ad: 'id="w"', body: tags('Impression', 'http://t.example/i') }),
      ),
      b: vast(unplayableAd('a', 'id="a"'), inline({ ad: 'id="b"' })).replace('4.2', '3.0'),
    });
    expect(result.trace).toEqual([
      { step: 'request', depth: 0, url: createUrl('start'), ms: 0 },
      { step: 'document', depth: 0, version: '4.2', ads: 1, repairs: 0 },
      { step: 'wrapper', depth: 0, adId: 'w', adSystem: 'wrapping server', tagUrl: createUrl('b') },
      { step: 'dropped', depth: 0, what: 'tracker "http://t.example/i" is not https' },
      { step: 'request', depth: 1, url: createUrl('b'), ms: 0 },
      { step: 'document', depth: 1, version: '3.0', ads: 2, repairs: 0 },
      { step: 'error', depth: 1, adId: 'a', code: 403, reason: expect.stringContaining('VPAID') },
    ]);
  });

  test('names the failed request', async () => {
    const { result } = await resolve({});
    expect(result.trace[0]).toMatchObject({ step: 'request', failure: '404' });
  });
});
