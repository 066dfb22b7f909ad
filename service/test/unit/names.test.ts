import { expect, test } from 'vitest';
import {
  listCategories,
  normalizeCategory,
  normalizeCountry,
  normalizeDomain,
  normalizeLanguage,
} from '../../src/platform/names.ts';

const none = undefined;

test.each([
  [
    normalizeDomain,
    [
      ['shop.example', 'shop.example'],
      ['www.shop.example', 'shop.example'],
      ['WWW.Shop.Example', 'shop.example'],
      ['https://shop.example', 'shop.example'],
      ['HTTPS://www.shop.example:8443/a?b#c', 'shop.example'],
      ['//shop.example/', 'shop.example'],
      ['*.shop.example', 'shop.example'],
      ['shop.example.', 'shop.example'],
      [' shop.example\t', 'shop.example'],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['BÜCHER.example', 'xn--bcher-kva.example'],
      ['shop。example', 'shop.example'],
      ['www.example', 'www.example'],
      ['ads.shop.co.uk', 'ads.shop.co.uk'],
      ['www.www.shop.example', 'shop.example'],
      ['\u200Bshop.example', 'shop.example'],
      ['ｓｈｏｐ．ｅｘａｍｐｌｅ', 'shop.example'],
      ['http://www.shop.example.:80/', 'shop.example'],
      ['.shop.example', none],
      ['shop.example, other.example', none],
      ['shop', none],
      ['', none],
      ['*', none],
      ['*.*.example', none],
      ['a b.example', none],
      ['user@shop.example', none],
      ['shop%2eexample', none],
      ['192.0.2.1', none],
      ['[2001:db8::1]', none],
      ['javascript:alert(1)', none],
      ['-shop.example', none],
      [`${'a'.repeat(64)}.example`, none],
      [`${'a.'.repeat(2_000)}example`, none],
    ],
  ],
  [
    normalizeCountry,
    [
      ['DE', 'DE'],
      ['de', 'DE'],
      [' de ', 'DE'],
      ['UK', 'GB'],
      ['EL', 'GR'],
      ['de-DE', none],
      ['ＤＥ', none],
      ['XK', 'XK'],
      ['Germany', none],
      ['DEU', none],
      ['EU', none],
      ['XX', none],
      ['T1', none],
      ['', none],
    ],
  ],
  [
    normalizeCategory,
    [
      ['IAB7-39', 'IAB7-39'],
      ['iab7-39', 'IAB7-39'],
      [' IAB7 ', 'IAB7'],
      ['150', '150'],
      ['0150', '150'],
      ['IAB07', none],
      ['IAB7-0', none],
      ['IAB7, IAB8', none],
      ['v9i3On', 'v9i3On'],
      ['JLBCU7', 'JLBCU7'],
      ['IAB99', none],
      ['IAB7_39', none],
      ['IAB7-', none],
      ['gambling', none],
      ['Sports', none],
      ['', none],
    ],
  ],
  [
    normalizeLanguage,
    [
      ['de', 'de'],
      ['DE', 'de'],
      ['de_DE', 'de-DE'],
      ['pt-br', 'pt-BR'],
      ['pt_BR.UTF-8', 'pt-BR'],
      ['en-US@posix', 'en-US'],
      ['iw', 'he'],
      ['in', 'id'],
      ['nb-NO', 'no-NO'],
      ['no', 'no'],
      ['cmn-Hans', 'zh-Hans'],
      ['pt-BR;q=0.9', none],
      ['de-DE-u-nu-latn', 'de-DE'],
      ['German', none],
      ['xx', none],
      ['*', none],
      ['', none],
      ['d'.repeat(60_000), none],
    ],
  ],
] as const)('%o has one form for all spellings of a name', (normalize, rows) => {
  for (const [text, expected] of rows) {
    expect(normalize(text), JSON.stringify(text.slice(0, 50))).toBe(expected);
    if (expected !== undefined) expect(normalize(expected)).toBe(expected);
  }
});

test('a category is part of the category that includes it', () => {
  expect([listCategories('IAB7-39'), listCategories('IAB7'), listCategories('150')]).toEqual([
    ['IAB7-39', 'IAB7'],
    ['IAB7'],
    ['150'],
  ]);
});
