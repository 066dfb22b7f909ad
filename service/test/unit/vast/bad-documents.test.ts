import { describe, expect, test } from 'vitest';
import {
  readAd,
  inline,
  readRejection,
  resolve,
  measureStall,
  maxStall,
  tags,
  createUrl,
  vast,
  wrapper,
} from './fixtures.ts';

describe('a document', () => {
  const billionLaughs = `<?xml version="1.0"?><!DOCTYPE VAST [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><VAST version="4.2"><Ad id="&b;"/></VAST>`;
  const externalDtd = `<!DOCTYPE VAST SYSTEM "file:///etc/passwd"><VAST version="4.2"/>`;

  test.each([
    ['is HTML', '<!DOCTYPE html><html><body>Sorry</body></html>', 100, 'DOCTYPE'],
    ['defines entities', billionLaughs, 100, 'DOCTYPE'],
    ['refers to an external DTD', externalDtd, 100, 'DOCTYPE'],
    ['is JSON', '{ "vast": null }', 100, 'not well-formed'],
    ['is binary', '\u0000\u0001\u0002', 100, 'not well-formed'],
    ['is truncated', vast(inline()).slice(0, -20), 100, 'not well-formed'],
    ['has two root elements', `${vast()}<VAST/>`, 100, 'not well-formed'],
    ['has a duplicate attribute', '<VAST version="4.2" version="4.2"/>', 100, 'not well-formed'],
    [
      'has more than 300 trackers',
      vast(
        inline({ body: tags('Impression', ...Array.from({ length: 301 }, () => createUrl('a'))) }),
      ),
      900,
      'at most 300',
    ],
    [
      'is nested too deeply',
      '<VAST>' + '<a>'.repeat(33) + '</a>'.repeat(33) + '</VAST>',
      100,
      'nests',
    ],
    ['has too many elements', `<VAST>${'<a/>'.repeat(5_001)}</VAST>`, 100, 'nodes'],
    ['has too many text nodes', `<VAST>${'<![CDATA[x]]>'.repeat(5_001)}</VAST>`, 100, 'nodes'],
    ['has too many bare ampersands', `<VAST>${'&'.repeat(2_001)}</VAST>`, 100, 'ampersands'],
    ['is too long', `<VAST>${' '.repeat(262_144)}</VAST>`, 100, 'characters'],
    ['is XHTML', '<html><body/></html>', 101, '<html>'],
    ['is VAST 1', '<VideoAdServingTemplate/>', 102, 'VAST 1'],
    ['claims version 1.0', '<VAST version="1.0"/>', 102, 'VAST 1.0'],
    ['claims version 5.0', '<VAST version="5.0"/>', 102, 'VAST 5.0'],
    ['is empty', '', 303, 'no ad'],
    ['has no ad', vast(), 303, 'no ad'],
  ])('is rejected if it %s', async (_name, document, code, reason) => {
    expect(await readRejection(document)).toEqual({
      code,
      reason: expect.stringContaining(reason),
    });
  });

  test('is rejected if it has too many attributes', async () => {
    const attributes = Array.from({ length: 5_001 }, (_, index) => `a${index}="1"`).join(' ');
    expect(await readRejection(`<VAST ${attributes}/>`)).toMatchObject({
      reason: expect.stringContaining('nodes'),
    });
  });

  test('is reported to its wrapper if it is unusable', async () => {
    const { result } = await resolve({
      start: vast(
        wrapper(createUrl('b'), { body: tags('Error', 'https://e.example/[ERRORCODE]') }),
      ),
      b: '<html/>',
    });
    expect(result.errors).toEqual([{ code: 101, urls: ['https://e.example/[ERRORCODE]'] }]);
  });

  test('is rejected if it makes the chain too long', async () => {
    const padding = `<!-- ${' '.repeat(200_000)} -->`;
    const { result } = await resolve({
      start: vast(padding, wrapper(createUrl('b'))),
      b: vast(padding, wrapper(createUrl('c'))),
      c: vast(padding, inline()),
    });
    expect(result.noAd).toEqual({ code: 100, reason: expect.stringContaining('in total') });
  });
});

describe('a nonconforming or unusual document', () => {
  const impression = 'https://t.example/i?a=1&copy=2&b=3';

  test.each([
    ['its declaration follows white space', ` \n${vast(inline())}`],
    ['it starts with a byte order mark', `\uFEFF${vast(inline())}`],
    ['it has no declaration', vast(inline()).replace(/<\?xml.*\?>/, '')],
    ['it has no version', vast(inline()).replace(' version="4.2"', '')],
    ['its version is 4.4', vast(inline()).replace('4.2', '4.4')],
    [
      'its elements have a prefix',
      vast(inline())
        .replaceAll(/<(\/?)(?=[A-Z])(?!!)/g, '<$1v:')
        .replaceAll('<v:![', '<!['),
    ],
    ['its title contains an unknown entity', vast(inline()).replace('>title<', '>a&nbsp;title<')],
  ])('is read if %s', async (_name, document) => {
    const { result } = await resolve({ start: document });
    expect(result.noAd).toBeUndefined();
    expect(result.ad?.media.url).toBe('https://cdn.example/ad.mp4');
  });

  test('is read if ampersands in its URLs are not escaped', async () => {
    const { result } = await resolve({
      start: vast(inline({ body: `<Impression>${impression}</Impression>` })),
    });
    expect(result.ad?.trackers.impression).toEqual([impression]);
    expect(result.trace).toContainEqual(expect.objectContaining({ repairs: 2 }));
  });

  test('is read if ampersands in its URLs are escaped', async () => {
    const escapedImpression = impression.replaceAll('&', '&amp;');
    const ad = await readAd(inline({ body: `<Impression>${escapedImpression}</Impression>` }));
    expect(ad.trackers.impression).toEqual([impression]);
  });

  test('is read if ampersands in its CDATA sections are not escaped', async () => {
    const ad = await readAd(inline({ body: tags('Impression', impression) }));
    expect(ad.trackers.impression).toEqual([impression]);
  });

  test('is read if its title has control characters or a lone surrogate', async () => {
    const withTitle = (title: string) => vast(inline()).replace('>title<', `>${title}<`);
    const readTitle = async (document: string) =>
      (await resolve({ start: document })).result.ad?.title;
    const xml11 = withTitle('a&#1;\n b').replace('version="1.0"', 'version="1.1"');
    expect(await readTitle(xml11)).toBe('a b');
    expect(await readTitle(withTitle('a\uD800b'))).toBe('a\uFFFDb');
    expect(await readTitle(withTitle(`${'a'.repeat(199)}😀`))).toBe('a'.repeat(199));
  });

  test('is still parsed if an entity name is uppercase', async () => {
    const { result } = await resolve({ start: vast(inline()).replace('>title<', '>a&AMP;b<') });
    expect(result.ad?.title).toBe('a&AMP;b');
  });

  test('is read if its element and attribute names match properties of Object.prototype', async () => {
    const { result } = await resolve({
      start: vast('<__proto__ constructor="x"/>', inline({ ad: '__proto__="x" toString="y"' })),
    });
    expect(result.ad).toBeDefined();
  });
});

test('parsing a document in chunks does not change the result', async () => {
  for (let shift = 0; shift < 40; shift += 1) {
    const padding = `<!--${'x'.repeat(16_300 + shift)}-->`;
    const body = `<Description>${'😀\r\n&amp;'.repeat(20)}</Description>${tags('Impression', 'https://t.example/?a=1&b=😀')}`;
    const ad = await readAd(`${padding}${inline({ body })}`);
    expect(ad.trackers.impression).toEqual(['https://t.example/?a=1&b=%F0%9F%98%80']);
  }
});

describe('parsing a document', () => {
  const size = 262_144;
  const fill = (piece: string, prefix = '', suffix = '') =>
    prefix +
    piece.repeat(Math.floor((size - prefix.length - suffix.length) / piece.length)) +
    suffix;
  const longUrl = `https://t.example/?${'a'.repeat(8_000)}`;

  test.each([
    ['text', fill('x', '<VAST>', '</VAST>')],
    ['ampersands', fill('&', '<VAST>', '</VAST>')],
    ['ampersands that almost begin an entity', fill('&#x1234567', '<VAST>', '</VAST>')],
    ['line breaks', fill('\r\n', '<VAST>', '</VAST>')],
    ['brackets', fill(']', '<VAST><![CDATA[', ']]></VAST>')],
    ['brackets and spaces', fill('] ', '<VAST><![CDATA[', ']]></VAST>')],
    ['line breaks in an attribute', fill('\r', '<VAST a="', '"/>')],
    ['entities in an attribute', fill('&lt;', '<VAST a="', '"/>')],
    ['open CDATA sections', fill('<![CDATA[', '<VAST>')],
    ['CDATA sections', fill('<![CDATA[]]>', '<VAST>', '</VAST>')],
    ['open elements', fill('<a>', '<VAST>')],
    ['elements', fill('<a b=""/>', '<VAST>', '</VAST>')],
    ['attributes', `<VAST ${Array.from({ length: 30_000 }, (_, at) => `a${at}=""`).join(' ')}/>`],
    ['a single element name', fill('x', '<VAST><', '/></VAST>')],
    ['a single attribute value', fill('x', '<VAST a="', '"/>')],
    ['comments', fill('<!---->', '<VAST>', '</VAST>')],
    ['open comments', fill('<!--', '<VAST>')],
    ['hyphens', fill('-', '<VAST><!--')],
    ['processing instructions', fill('<?a?>', '<VAST>', '</VAST>')],
    ['DOCTYPE', fill('[', '<!DOCTYPE a ')],
    ['character references', fill('&#38;', '<VAST>', '</VAST>')],
    ['white space', fill(' ', '<VAST>', '</VAST>')],
    ['surrogates', fill('😀', '<VAST>', '</VAST>')],
    [
      'long URLs',
      vast(inline({ body: tags('Impression', ...Array.from({ length: 31 }, () => longUrl)) })),
    ],
    [
      'macros',
      vast(
        inline({
          body: tags(
            'Error',
            ...Array.from({ length: 31 }, () => `https://t.example/${'[ERRORCODE]'.repeat(700)}`),
          ),
        }),
      ),
    ],
    ['ads', fill('<Ad><InLine/></Ad>', '<VAST>', '</VAST>')],
    [
      'media files',
      fill(
        '<MediaFile type="video/mp4">https://a.example</MediaFile>',
        '<VAST><Ad><InLine><Creatives><Creative><Linear><MediaFiles>',
        '</MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>',
      ),
    ],
    ['a single duration', vast(inline({ duration: '0'.repeat(250_000) }))],
    [
      'categories',
      vast(
        inline({ body: fill('a,', '<Category>', '</Category>').slice(0, 250_000) + '</Category>' }),
      ),
    ],
  ])(
    'blocks the event loop hardly longer than plain text with 256 kB of %s',
    async (_what, document) => {
      expect(document.length).toBeGreaterThan(150_000);
      expect(await measureStall({ start: document })).toBeLessThan(maxStall);
    },
  );

  test('blocks the event loop hardly longer than plain text if many ads in a chain report errors', async () => {
    const longErrors = tags(
      'Error',
      ...Array.from({ length: 5 }, () => `${createUrl('e')}?${'[ERRORCODE]'.repeat(700)}`),
    );
    const options = { body: longErrors, wrapper: 'allowMultipleAds="1"' };
    const documents = {
      start: vast(wrapper(createUrl('b'), options)),
      b: vast(wrapper(createUrl('c'), options)),
      c: vast(...Array.from({ length: 20 }, () => '<Ad/>')),
    };
    expect((await resolve(documents)).result.errors[0]?.urls).toHaveLength(10);
    expect(await measureStall(documents)).toBeLessThan(maxStall);
  });
});
