import { expect, test } from 'vitest';
import {
  fromMicros,
  parseHeaders,
  parseObject,
  toMicros,
  formatSupplyChain,
  parseSupplyChain,
  toSource,
} from '../../../panel/src/ads/source-values.ts';

test('fields for other kinds of sources are dropped', () => {
  const values = {
    id: 'src_1',
    updated_at: 'now',
    name: 'S',
    kind: 'house',
    status: 'active',
    tag_url: 'https://ads.example/v',
    placements: [],
    child_directed: false,
  };
  expect(toSource(values)).toEqual({
    id: 'src_1',
    updated_at: 'now',
    name: 'S',
    kind: 'house',
    status: 'active',
  });
  expect(toSource({ ...values, kind: 'vast', endpoint_url: 'https://bid.example/' })).toEqual({
    ...values,
    kind: 'vast',
  });
});

test('text fields in the form are parsed into objects', () => {
  const values = {
    kind: 'openrtb',
    request_headers: 'Authorization: Bearer a:b\n\n X-Account : 7 ',
    ext: '{"ext":{"prebid":{}}}',
    ads_txt: { domain: 'game.example', lines: ['a.example, 1, DIRECT', ' ', ''] },
  };
  expect(toSource(values)).toEqual({
    kind: 'openrtb',
    request_headers: { Authorization: 'Bearer a:b', 'X-Account': '7' },
    ext: { ext: { prebid: {} } },
    ads_txt: { domain: 'game.example', lines: ['a.example, 1, DIRECT'] },
  });
});

test('an empty headers field keeps the stored headers, and `-` removes them', () => {
  expect(toSource({ kind: 'vast', request_headers: '' })).toEqual({ kind: 'vast' });
  expect(toSource({ kind: 'vast', request_headers: '-' })).toMatchObject({ request_headers: {} });
  expect(parseHeaders('Authorization')).toBeUndefined();
});

test.each(['[1]', '"a"', '{', 'null'])('%s is not a JSON object', (text) => {
  expect(parseObject(text)).toBeUndefined();
});

test('a cleared JSON field is removed', () => {
  expect(toSource({ kind: 'openrtb', ext: ' ' })).toEqual({ kind: 'openrtb', ext: null });
});

test('amounts are entered in currency units and stored in micros', () => {
  expect([toMicros('2.5'), toMicros('0.000001'), toMicros('')]).toEqual([2_500_000, 1, null]);
  expect(toMicros('1.1')).toBe(1_100_000);
  expect([fromMicros(2_500_000), fromMicros(undefined)]).toEqual([2.5, '']);
});

test('a supply chain is edited as text with one node per line', () => {
  const chain = [
    { asi: 'ads.example', sid: '1' },
    { asi: 'reseller.example', sid: 'a-7' },
  ];
  const text = 'ads.example, 1\nreseller.example, a-7';
  expect(formatSupplyChain(chain)).toBe(text);
  expect(toSource({ kind: 'openrtb', supply_chain: `${text}\n` })).toEqual({
    kind: 'openrtb',
    supply_chain: chain,
  });
  expect(toSource({ kind: 'openrtb', supply_chain: '' })).toMatchObject({ supply_chain: null });
  expect(parseSupplyChain('ads.example')).toBeUndefined();
  expect(parseSupplyChain('ads.example, 1, DIRECT')).toBeUndefined();
});
