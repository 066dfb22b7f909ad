import { describe, expect, test } from 'vitest';
import { readAd, inline, mp4, nowMs, readRejection, tags, tracking, vast } from './fixtures.ts';

describe('readAd', () => {
  test('returns the media, duration and ids', async () => {
    const ad = await readAd(
      inline({
        body: '<Advertiser>shop.example</Advertiser><AdServingId>s-1</AdServingId>',
        creative: '<UniversalAdId idRegistry="ad-id.org">CNPA0484000H</UniversalAdId>',
      }),
    );
    expect(ad).toMatchObject({
      title: 'title',
      adSystem: 'server',
      advertiser: 'shop.example',
      adServingId: 's-1',
      creativeId: 'c1',
      adId: 'a1',
      universalAdIds: [{ registry: 'ad-id.org', id: 'CNPA0484000H' }],
      durationMs: 20_000,
      media: { url: 'https://cdn.example/ad.mp4', type: 'video/mp4', width: 1_280, height: 720 },
    });
  });

  test('omits fields that are missing from the document', async () => {
    const ad = await readAd(inline());
    for (const member of ['advertiser', 'clickThrough', 'skip', 'expiresAtMs', 'adServingId']) {
      expect(ad).not.toHaveProperty(member);
    }
  });

  test('returns trackers by event in document order', async () => {
    const { trackers } = await readAd(
      inline({
        body: tags('Impression', 'https://t.example/i1', 'https://t.example/i2'),
        tracking: [
          tracking('start', 'https://t.example/s1'),
          tracking('complete', 'https://t.example/c'),
          tracking('start', 'https://t.example/s2'),
        ].join(''),
      }),
    );
    expect(trackers).toEqual({
      impression: ['https://t.example/i1', 'https://t.example/i2'],
      start: ['https://t.example/s1', 'https://t.example/s2'],
      complete: ['https://t.example/c'],
    });
  });

  test('returns progress trackers by time and by percentage', async () => {
    const { progress } = await readAd(
      inline({
        tracking: [
          tracking('progress', 'https://t.example/5s', '00:00:05.500'),
          tracking('progress', 'https://t.example/60', '60%'),
          tracking('progress', 'https://t.example/never'),
          tracking('progress', 'https://t.example/beyond', '160%'),
        ].join(''),
      }),
    );
    expect(progress).toEqual([
      { offset: { ms: 5_500 }, url: 'https://t.example/5s' },
      { offset: { percent: 60 }, url: 'https://t.example/60' },
    ]);
  });

  test('ignores events for other player types', async () => {
    const ad = await readAd(
      inline({ tracking: tracking('acceptInvitation', 'https://t.example/a') }),
    );
    expect(ad.trackers).toEqual({});
  });

  test('returns viewability trackers', async () => {
    const viewableImpression = `<ViewableImpression>${tags('Viewable', 'https://t.example/v')}${tags(
      'NotViewable',
      'https://t.example/n',
    )}</ViewableImpression>`;
    const { trackers } = await readAd(inline({ body: viewableImpression }));
    expect(trackers).toEqual({
      viewable: ['https://t.example/v'],
      notViewable: ['https://t.example/n'],
    });
  });

  test('returns the click-through URL and click trackers', async () => {
    const { clickThrough, trackers } = await readAd(
      inline({
        clicks:
          tags('ClickThrough', 'http://shop.example/landing') +
          tags('ClickTracking', 'https://t.example/click'),
      }),
    );
    expect(clickThrough).toBe('http://shop.example/landing');
    expect(trackers.click).toEqual(['https://t.example/click']);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'about:blank', 'shop', '//', 'blob:x'])(
    'drops %s as a click-through URL',
    async (url) => {
      const ad = await readAd(inline({ clicks: tags('ClickThrough', url) }));
      expect(ad).not.toHaveProperty('clickThrough');
    },
  );

  test('joins a URL that is split across several CDATA sections', async () => {
    const splitImpression =
      '<Impression> <![CDATA[https://t.exa]]><![CDATA[mple/i?a=1&b]]>=2 </Impression>';
    const { trackers } = await readAd(inline({ body: splitImpression }));
    expect(trackers.impression).toEqual(['https://t.example/i?a=1&b=2']);
  });

  test('keeps the macros in trackers', async () => {
    const url = 'https://t.example/i?t=[TIMESTAMP]&r=[CACHEBUSTING]';
    const { trackers } = await readAd(inline({ body: tags('Impression', url) }));
    expect(trackers.impression).toEqual([url]);
  });

  test('drops http trackers unless they are allowed', async () => {
    const ad = inline({ body: tags('Impression', 'http://t.example/i') });
    expect((await readAd(ad)).trackers).toEqual({});
    expect((await readAd(ad, { httpTrackers: true })).trackers).toEqual({
      impression: ['http://t.example/i'],
    });
  });

  test('drops trackers with credentials or a macro as the host', async () => {
    const body = tags('Impression', 'https://[DOMAIN]/i', 'https://user:secret@t.example/i');
    expect((await readAd(inline({ body }))).trackers).toEqual({});
  });

  test('reads an expiry in seconds', async () => {
    const ad = await readAd(inline({ body: '<Expires>300</Expires>' }));
    expect(ad.expiresAtMs).toBe(nowMs + 300_000);
  });

  test('returns the verification vendors’ verificationNotExecuted trackers', async () => {
    const vendor = `<AdVerifications><Verification vendor="v.example-omid"><TrackingEvents>${tracking(
      'verificationNotExecuted',
      'https://v.example/no?why=[REASON]&t=[TIMESTAMP]',
    )}</TrackingEvents></Verification></AdVerifications>`;
    const expected = {
      verificationNotExecuted: ['https://v.example/no?why=[REASON]&t=[TIMESTAMP]'],
    };
    expect((await readAd(inline({ body: vendor }))).trackers).toEqual(expected);
    const extension = `<Extensions><Extension type="AdVerifications">${vendor}</Extension></Extensions>`;
    expect((await readAd(inline({ body: extension }))).trackers).toEqual(expected);
  });

  test('returns the icons that have a static resource', async () => {
    const icon = `<Icon program="AdChoices" width="77" height="15" xPosition="right" yPosition="top" duration="00:00:10" offset="00:00:02" altText="Why this ad?">
      <StaticResource creativeType="image/png"><![CDATA[https://cdn.example/choices.png]]></StaticResource>
      <IconClicks>${tags('IconClickThrough', 'https://choices.example')}${tags('IconClickTracking', 'https://t.example/icon')}</IconClicks>
      ${tags('IconViewTracking', 'https://t.example/seen')}</Icon>`;
    const htmlIcon = `<Icon program="other"><HTMLResource><![CDATA[<b></b>]]></HTMLResource></Icon>`;
    const { icons } = await readAd(inline({ icons: icon + htmlIcon }));
    expect(icons).toEqual([
      {
        program: 'AdChoices',
        url: 'https://cdn.example/choices.png',
        type: 'image/png',
        width: 77,
        height: 15,
        x: 'right',
        y: 'top',
        fromMs: 2_000,
        durationMs: 10_000,
        altText: 'Why this ad?',
        clickThrough: 'https://choices.example/',
        clickTrackers: ['https://t.example/icon'],
        viewTrackers: ['https://t.example/seen'],
      },
    ]);
  });

  test('returns the WebVTT captions', async () => {
    const file = (type: string, language: string) =>
      `<ClosedCaptionFile type="${type}" language="${language}"><![CDATA[https://cdn.example/${language}]]></ClosedCaptionFile>`;
    const captions = `<ClosedCaptionFiles>${file('text/srt', 'en')}${file('text/vtt', 'zh-TW')}</ClosedCaptionFiles>`;
    const ad = await readAd(inline({ media: captions + mp4() }));
    expect(ad.captions).toEqual([
      { url: 'https://cdn.example/zh-TW', type: 'text/vtt', language: 'zh-TW' },
    ]);
  });

  test.each([
    ['4.0', '<UniversalAdId idRegistry="r" idValue="x">x</UniversalAdId>'],
    ['4.0 without text content', '<UniversalAdId idRegistry="r" idValue="x"/>'],
    ['4.1', '<UniversalAdId idRegistry="r">x</UniversalAdId>'],
  ])('returns the universal ad id of VAST %s', async (_version, creative) => {
    expect((await readAd(inline({ creative }))).universalAdIds).toEqual([
      { registry: 'r', id: 'x' },
    ]);
  });

  test('returns the category codes', async () => {
    const body =
      '<Category authority="https://c.example">IAB1, IAB2-3</Category><Category>A b</Category>';
    expect((await readAd(inline({ body }))).categories).toEqual([
      { authority: 'https://c.example', code: 'IAB1' },
      { authority: 'https://c.example', code: 'IAB2-3' },
      { code: 'A b' },
    ]);
  });

  test('omits an unknown universal ad id', async () => {
    const creative = '<UniversalAdId idRegistry="unknown">unknown</UniversalAdId>';
    expect((await readAd(inline({ creative }))).universalAdIds).toEqual([]);
  });

  test.each([
    ['00:00:20', 20_000],
    ['00:00:20.250', 20_250],
    ['00:20', 20_000],
    ['20', 20_000],
    ['00:00:00', undefined],
    ['-00:00:20', undefined],
    ['NaN', undefined],
    ['1e9', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads the duration %s as %s', async (duration, expected) => {
    expect((await readAd(inline({ duration }))).durationMs).toBe(expected);
  });

  test.each(['00:00:04', '00:03:00'])('rejects a duration of %s with 202', async (duration) => {
    expect(await readRejection(vast(inline({ duration })))).toMatchObject({ code: 202 });
  });

  test.each([
    ['00:00:05', { ms: 5_000 }],
    ['25%', { percent: 25 }],
    ['sometime', undefined],
  ])('reads the skip offset %s', async (offset, expected) => {
    const ad = await readAd(inline({ linear: `skipoffset="${offset}"` }));
    expect(ad.skip).toEqual(expected);
  });

  test.each(['00:00:04', '20%'])('rejects the skip offset %s with 200', async (offset) => {
    const document = vast(inline({ linear: `skipoffset="${offset}"` }));
    expect(await readRejection(document)).toMatchObject({ code: 200 });
  });

  test('accepts a skip offset that is a percentage of an unknown duration', async () => {
    const ad = await readAd(inline({ linear: 'skipoffset="20%"', duration: '00:00:00' }));
    expect(ad.skip).toEqual({ percent: 20 });
  });

  test('rejects an audio ad with 200', async () => {
    expect(await readRejection(vast(inline({ ad: 'adType="audio"' })))).toMatchObject({
      code: 200,
    });
  });

  test('rejects a non-linear ad with 201', async () => {
    const ad =
      '<Ad><InLine><Creatives><Creative><NonLinearAds/></Creative></Creatives></InLine></Ad>';
    expect(await readRejection(vast(ad))).toMatchObject({ code: 201 });
  });

  test('rejects an ad without a creative with 101', async () => {
    expect(await readRejection(vast('<Ad><InLine/></Ad>'))).toMatchObject({ code: 101 });
    expect(await readRejection(vast('<Ad/>'))).toMatchObject({ code: 101 });
  });

  test('rejects an ad with hundreds of trackers with 900', async () => {
    const urls = Array.from({ length: 301 }, (_, index) => `https://t.example/${index}`);
    const ad = inline({ body: tags('Impression', ...urls) });
    expect(await readRejection(vast(ad))).toMatchObject({ code: 900 });
  });
});

describe('an ad’s media', () => {
  const file = (attributes: string, url = 'https://cdn.example/x') =>
    `<MediaFile ${attributes}><![CDATA[${url}]]></MediaFile>`;

  test.each([
    ['VPAID', file('type="application/javascript" apiFramework="VPAID"'), 'needs VPAID'],
    ['VPAID that claims to be MP4', file('type="video/mp4" apiFramework="VPAID"'), 'needs VPAID'],
    ['HLS', file('type="application/x-mpegURL" delivery="streaming"'), 'is application/x-mpegurl'],
    ['Flash', file('type="video/x-flv"'), 'is video/x-flv'],
    ['HTML', file('type="text/html"'), 'is text/html'],
    ['a stream', file('type="video/mp4" delivery="streaming"'), 'is streamed'],
    ['HEVC', file('type="video/mp4" codec="hvc1.1.6.L93"'), 'has codec hvc1.1.6.L93'],
    ['http', file('type="video/mp4"', 'http://cdn.example/x'), 'has no usable URL'],
    ['a file without a type', file(''), 'is of no declared type'],
    ['missing', '', 'is missing'],
  ])('is rejected with 403 if it is only %s', async (_what, media, reason) => {
    const rejection = await readRejection(vast(inline({ media })));
    expect(rejection.code).toBe(403);
    expect(rejection.reason).toContain(reason);
  });

  test('may use http where http is allowed', async () => {
    const media = mp4('', 'http://cdn.example/x.mp4');
    const ad = await readAd(inline({ media }), { httpMedia: true });
    expect(ad.media.url).toBe('http://cdn.example/x.mp4');
  });

  test('may declare codecs in its type', async () => {
    const media = file('type="video/MP4; codecs=avc1.42E01E"');
    expect((await readAd(inline({ media }))).media.type).toBe('video/mp4');
  });

  test('is the MP4 if the other files are unplayable', async () => {
    const media = file('type="application/x-mpegURL"') + file('type="video/webm"') + mp4();
    expect((await readAd(inline({ media }))).media.type).toBe('video/mp4');
  });

  const createFile = (width: number, height: number, bitrate: number) =>
    `<MediaFile type="video/mp4" width="${width}" height="${height}" bitrate="${bitrate}"><![CDATA[https://cdn.example/${height}-${bitrate}]]></MediaFile>`;

  test.each([
    [
      'that fits the player’s size',
      [createFile(640, 360, 600), createFile(1_280, 720, 1_500)],
      '720-1500',
    ],
    [
      'with the higher bitrate',
      [createFile(1_280, 720, 800), createFile(1_280, 720, 2_500)],
      '720-2500',
    ],
    [
      'with a bitrate below the limit',
      [createFile(1_280, 720, 9_000), createFile(640, 360, 600)],
      '360-600',
    ],
    [
      'that comes first among equal files',
      [createFile(1_280, 720, 0), createFile(1_280, 720, 0)],
      '720-0',
    ],
    ['with a known size', [createFile(0, 0, 900), createFile(640, 360, 600)], '360-600'],
  ])('is the media file %s', async (_what, media, expected) => {
    const ad = await readAd(inline({ media: media.join('') }));
    expect(ad.media.url).toBe(`https://cdn.example/${expected}`);
  });

  test('comes from the first playable linear creative', async () => {
    const flash = `<Creative><Linear><MediaFiles>${file('type="video/x-flv"')}</MediaFiles><TrackingEvents>${tracking('start', 'https://t.example/flash')}</TrackingEvents></Linear></Creative>`;
    const ad = await readAd(
      inline({ tracking: tracking('start', 'https://t.example/mp4') }).replace(
        '<Creatives>',
        `<Creatives>${flash}`,
      ),
    );
    expect(ad.trackers.start).toEqual(['https://t.example/mp4']);
  });
});
