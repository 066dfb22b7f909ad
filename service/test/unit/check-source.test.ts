import type { Source } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { checkSource } from '../../src/demand/check-source.ts';

const vast = {
  name: 'V',
  kind: 'vast',
  status: 'active',
  tag_url: 'https://ads.example/v',
} as const;
const bidder = {
  name: 'B',
  kind: 'openrtb',
  status: 'active',
  endpoint_url: 'https://bid.example/rtb',
} as const;
/** With it, `{"text":"…"}` has 16,384 bytes. */
const longestExt = `${'é'.repeat(8_186)}x`;
type Change = Partial<Source>;

const findErrors = (source: Change, development = false, sandbox = development) =>
  checkSource({ name: 'S', kind: 'house', status: 'active', ...source }, { development, sandbox });

test('a VAST source with every field and every VAST macro is accepted', () => {
  const tag =
    'https://ads.example/v?cb=[CACHEBUSTING]&t=[timestamp]&r=%5BRANDOM%5D&gdpr=[GDPRCONSENT]&items[]=1';
  expect(findErrors({ ...vast, tag_url: tag, cpm_micros: 1, placements: ['revive'] })).toEqual([]);
});

test('an OpenRTB source with every field is accepted', () => {
  const optional = {
    ortb_version: '2.5',
    floor_micros: 500_000,
    currency: 'EUR',
    ext: { text: longestExt },
  } as const;
  expect(findErrors({ ...bidder, ...optional })).toEqual([]);
});

test.each<[Change, string, string]>([
  [{ name: 'V', kind: 'vast' }, '/tag_url', 'is required'],
  [{ name: 'B', kind: 'openrtb' }, '/endpoint_url', 'is required'],
  [{ ...vast, tag_url: 'ads.example/v' }, '/tag_url', 'absolute URL'],
  [{ ...vast, tag_url: 'http://ads.example/v' }, '/tag_url', 'https'],
  [{ ...vast, tag_url: 'javascript:alert(1)' }, '/tag_url', 'https'],
  [{ ...vast, tag_url: 'https://me:pass@ads.example/v' }, '/tag_url', 'password'],
  [{ ...vast, tag_url: 'https://10.0.0.8/v' }, '/tag_url', 'public internet'],
  [{ ...vast, tag_url: 'https://169.254.169.254/latest' }, '/tag_url', 'public internet'],
  [{ ...bidder, endpoint_url: 'https://[::1]/rtb' }, '/endpoint_url', 'loopback'],
  [{ ...bidder, endpoint_url: 'https://[fd00::1]/rtb' }, '/endpoint_url', 'public internet'],
  [{ ...bidder, endpoint_url: 'https://localhost./rtb' }, '/endpoint_url', 'loopback'],
  [
    { ...vast, tag_url: 'https://pubads.g.doubleclick.net/gampad/ads?iu=/1/x' },
    '/tag_url',
    'Ad Placement API',
  ],
  [{ ...vast, tag_url: 'https://DoubleClick.net./x' }, '/tag_url', 'Google ad tag'],
  [
    { ...bidder, endpoint_url: 'https://pagead2.googlesyndication.com/x' },
    '/endpoint_url',
    'Google',
  ],
  [{ ...vast, tag_url: 'https://ads.example/v?x=[CACHEBUSTER]' }, '/tag_url', '[CACHEBUSTER]'],
  [{ ...vast, tag_url: 'https://ads.example/v?x=%%CACHEBUSTER%%' }, '/tag_url', '%%CACHEBUSTER%%'],
  [{ ...vast, tag_url: 'https://ads.example/v?x=${AUCTION_ID}' }, '/tag_url', '${AUCTION_ID}'],
  [{ ...bidder, endpoint_url: 'https://bid.example/?x=[IFA]' }, '/endpoint_url', '[IFA]'],
  [{ ...vast, endpoint_url: 'https://bid.example/' }, '/endpoint_url', 'openrtb sources only'],
  [{ ...vast, floor_micros: 1 }, '/floor_micros', 'openrtb sources only'],
  [{ ...vast, ext: {} }, '/ext', 'openrtb sources only'],
  [{ ...bidder, cpm_micros: 1 }, '/cpm_micros', 'vast sources only'],
  [{ kind: 'house', tag_url: 'https://ads.example/v' }, '/tag_url', 'vast sources only'],
  [
    { kind: 'direct', placements: ['revive'] },
    '/placements',
    'vast, openrtb and page sources only',
  ],
  [{ kind: 'house', timeout_ms: 100 }, '/timeout_ms', 'vast and openrtb sources only'],
  [{ ...vast, currency: 'USX' }, '/currency', 'ISO 4217'],
  [{ ...bidder, ext: { text: `${longestExt}x` } }, '/ext', 'the maximum is 16384'],
  [
    { ...vast, ads_txt: { domain: 'game.example', lines: ['a.example, 1, DIRECT', 'a.example'] } },
    '/ads_txt/lines/1',
    'an ads.txt record',
  ],
  [{ ...vast, review: 'automatic' }, '/allowed_domains', 'must name'],
])('the source %j is rejected at %s: %s', (source, pointer, reason) => {
  expect(findErrors(source)).toEqual([
    { pointer, message: expect.stringContaining(reason) as string },
  ]);
});

test('a host that only resembles a Google host is accepted', () => {
  expect(findErrors({ ...vast, tag_url: 'https://notdoubleclick.net/v' })).toEqual([]);
  expect(findErrors({ ...vast, tag_url: 'https://doubleclick.net.ads.example/v' })).toEqual([]);
});

test('a source may use http only in development and on a loopback address', () => {
  const tag = 'http://127.0.0.1:9000/v';
  expect(findErrors({ ...vast, tag_url: tag }, true)).toEqual([]);
  expect(findErrors({ ...vast, tag_url: tag }, false)).toHaveLength(1);
  expect(findErrors({ ...vast, tag_url: 'http://192.168.1.5/v' }, true)).toHaveLength(1);
});

test('a supply chain with a duplicate node or an invalid domain is rejected', () => {
  const node = { asi: 'ads.example', sid: '1' };
  const findChainErrors = (...chain: [typeof node, ...(typeof node)[]]) =>
    findErrors({ ...bidder, publisher_id: 'pub-1', supply_chain: chain });
  expect(findChainErrors(node, { ...node, sid: '2' })).toEqual([]);
  expect(findChainErrors(node, node)).toEqual([
    { pointer: '/supply_chain/1', message: 'is already in the chain' },
  ]);
  for (const asi of ['Ads.example', 'ads', '203.0.113.7'])
    expect(findChainErrors({ asi, sid: '1' })[0]?.message).toContain('a domain in lowercase');
  expect(findErrors({ ...vast, publisher_id: 'pub-1' })[0]?.pointer).toBe('/publisher_id');
});
