import fc from 'fast-check';
import {
  type Documents,
  inline,
  mp4,
  tags,
  tracking,
  createUrl,
  vast,
  wrapper,
} from './fixtures.ts';

const level = (name: string) => ({
  body:
    tags('Impression', `https://t.example/${name}?t=[TIMESTAMP]`) +
    tags('Error', `https://e.example/${name}?c=[ERRORCODE]`) +
    '<Expires>600</Expires>',
  tracking:
    tracking('start', `https://t.example/${name}/start`) +
    tracking('progress', `https://t.example/${name}/60`, '60%') +
    tracking('complete', `https://t.example/${name}/complete`),
  clicks:
    tags('ClickThrough', 'https://shop.example') + tags('ClickTracking', 'https://t.example/c'),
  icons:
    '<Icon program="AdChoices" width="77" height="15" offset="00:00:01"><StaticResource creativeType="image/png"><![CDATA[https://cdn.example/i.png]]></StaticResource></Icon>',
});

/** A chain that consists of two wrappers and an ad. */
export const chain: Documents = {
  start: vast(
    wrapper(createUrl('b'), {
      ...level('outer'),
      ad: 'id="w" sequence="1"',
      wrapper: 'allowMultipleAds="1"',
    }),
    inline({ ...level('pod'), ad: 'sequence="2"' }),
    tags('Error', 'https://e.example/none'),
  ),
  b: vast(
    inline({ ...level('vpaid'), media: mp4('apiFramework="VPAID"') }),
    wrapper(createUrl('c'), { ...level('inner'), wrapper: 'fallbackOnNoAd="true"' }),
  ),
  c: vast(
    inline({
      ...level('ad'),
      linear: 'skipoffset="00:00:05"',
      creative: '<UniversalAdId idRegistry="ad-id.org">X</UniversalAdId>',
      media: mp4() + mp4('', 'https://cdn.example/2.mp4'),
    }),
  ),
};

/** Text that is likely to confuse a parser. */
// prettier-ignore
export const fragments = [
  '<![CDATA[', ']]>', '<!--', '-->', '<?xml version="1.1"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', '&b;', '&', '&#0;',
  '&#x110000;', '<', '>', '/>', '"', '</Ad>', '<Ad>', '<InLine>', '</InLine>', '<Wrapper>', '<Linear>', '<a xmlns="x:y">',
  '\u0000', '\uD800', '\uFEFF', '\r', '%', '%5B', '[ERRORCODE]', '[CACHEBUSTING', '-1', '1e309', 'NaN', '99999999999',
  '00:00:00', '99:99:99', '100.1%', '-5%', 'javascript:alert(1)', 'http://', 'https://[', 'https://a@b/', '//t.example',
  createUrl('start'), createUrl('b'), 'sequence="0"', 'version="9"', '__proto__', 'x'.repeat(9_000), '<a>'.repeat(40), '&'.repeat(3_000),
];

interface Edit {
  document: string;
  kind: 'insert' | 'remove' | 'replace' | 'repeat' | 'move';
  /** The start of the edit as a fraction of the document length, from 0 to 1. */
  at: number;
  length: number;
  fragment: string;
}

/** Generates an edit to one of the documents in the chain. */
export const edit: fc.Arbitrary<Edit> = fc.record({
  document: fc.constantFrom('start', 'b', 'c'),
  kind: fc.constantFrom('insert', 'remove', 'replace', 'repeat', 'move'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2_000 })),
  fragment: fc.oneof(fc.constantFrom(...fragments), fc.string({ unit: 'binary', maxLength: 20 })),
});

export function applyEdit(
  documents: Documents,
  { document, kind, at, length, fragment }: Edit,
): Documents {
  const text = documents[document] ?? '';
  const index = Math.floor(at * text.length);
  const [prefix, removedText, suffix] = [
    text.slice(0, index),
    text.slice(index, index + length),
    text.slice(index + length),
  ];
  const editedDocuments = {
    insert: prefix + fragment + removedText + suffix,
    remove: prefix + suffix,
    replace: prefix + fragment + suffix,
    repeat: prefix + removedText.repeat(Math.min(30, Math.ceil(60_000 / length))) + suffix,
    move: removedText + prefix + suffix,
  }[kind];
  return { ...documents, [document]: editedDocuments };
}
