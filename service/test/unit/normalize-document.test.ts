import { expect, test } from 'vitest';
import { normalizeDocument } from '../../src/resource/normalize-document.ts';
import type { ResourceKind } from '../../src/resource/resource.ts';

/** A text and how it is compared, for each kind of names; and a text that is none. */
const domains = { given: 'WWW.Bücher.example.', kept: 'xn--bcher-kva.example', wrong: '*' };
const categories = { given: 'iab7-39', kept: 'IAB7-39', wrong: 'sports!' };
const countries = { given: 'de', kept: 'DE', wrong: 'Germany' };
const languages = { given: 'pt_br', kept: 'pt-BR', wrong: '??' };

const segments = { given: ' kids\u00a0', kept: 'kids', wrong: 'k'.repeat(65) };

/** Every member with names. */
const members: [ResourceKind, string, typeof domains][] = [
  ['policy', '/when/countries', countries],
  ['policy', '/when/languages', languages],
  ['policy', '/when/segments', segments],
  ['adRule', '/segments', segments],
  ['policy', '/block/domains', domains],
  ['policy', '/block/categories', categories],
  ['source', '/allowed_domains', domains],
  ['advertiser', '/categories', categories],
  ['creative', '/categories', categories],
];
const nest = (pointer: string, value: unknown): object =>
  pointer
    .slice(1)
    .split('/')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner, other: 'kept' }), value) as object;
const normalize = (kind: ResourceKind, document: object) =>
  normalizeDocument(kind, document as never);

test.each(members)(
  'a %s’s %s are compared in one form',
  (kind, pointer, { given, kept, wrong }) => {
    expect(normalize(kind, nest(pointer, [given, kept]))).toEqual({
      document: nest(pointer, [kept]),
      errors: [],
    });
    expect(normalize(kind, nest(pointer, [given, wrong]))).toEqual({
      document: nest(pointer, [kept, wrong]),
      errors: [
        { pointer: `${pointer}/1`, message: expect.stringMatching(/^must be an? /) as string },
      ],
    });
  },
);

test.each<[ResourceKind, string]>([
  ['source', '/ads_txt/domain'],
  ['advertiser', '/domain'],
])('a %s’s %s is compared in one form', (kind, pointer) => {
  const { given, kept, wrong } = domains;
  expect(normalize(kind, nest(pointer, given))).toEqual({
    document: nest(pointer, kept),
    errors: [],
  });
  expect(normalize(kind, nest(pointer, wrong)).errors).toEqual([
    { pointer, message: 'must be a domain, such as shop.example' },
  ]);
});

test.each<[ResourceKind, string]>([
  ['policy', '/name'],
  ['source', '/name'],
  ['advertiser', '/name'],
  ['creative', '/name'],
  ['houseAd', '/name'],
])('a %s’s %s is one visible line', (kind, pointer) => {
  expect(normalize(kind, nest(pointer, '  Summer\n\u202esale '))).toEqual({
    document: nest(pointer, 'Summer sale'),
    errors: [],
  });
  for (const wrong of [' ', '\u202e', '\u200b'])
    expect(normalize(kind, nest(pointer, wrong)).errors).toEqual([
      { pointer, message: 'must contain a visible character' },
    ]);
});

test('a creative’s texts for players are one line each, and may be empty', () => {
  const document = (text: string) => ({
    alt: text,
    media: { captions: [{ label: text, language: 'en' }] },
  });
  for (const [given, kept] of [
    ['A\nhorse ', 'A horse'],
    ['\u202e', ''],
  ] as const)
    expect(normalize('creative', document(given))).toEqual({
      document: document(kept),
      errors: [],
    });
});

test.each([{}, { when: null }, { when: {} }, { when: { countries: 7 } }, { block: 'all' }])(
  'what a document %j lacks stays out',
  (document) => {
    expect(normalize('policy', document)).toEqual({ document, errors: [] });
  },
);
