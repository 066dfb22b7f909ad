import { expect, test } from 'vitest';
import { createAddressEdge, readAddress } from '../../src/http/client-address.ts';

const proxy = '10.0.0.1';
const rewrite = (
  headers: Record<string, string>,
  peer = proxy,
  trusted: string[] | undefined = ['10.0.0.0/8'],
) => {
  const request = { headers: { ...headers }, socket: { remoteAddress: peer } };
  createAddressEdge(trusted)(request as never);
  return (request.headers as Record<string, string>)['x-forwarded-for'];
};

test.each([
  ['203.0.113.98', '203.0.113.98'],
  ['203.0.113.98:50001', '203.0.113.98'],
  ['2001:DB8::1', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%25eth0]:80', 'fe80::1'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['::FFFF:cb00:7162', '203.0.113.98'],
  ['[::ffff:cb00:7162]:443', '203.0.113.98'],
  ['[203.0.113.98]:80', '203.0.113.98'],
  ['203.0.113.98:500011', proxy],
  ['203.0.113.98/32', proxy],
  ['::ffff:203.0.113.98', '203.0.113.98'],
  [' 203.0.113.98 ,10.0.0.2:80', '203.0.113.98, 10.0.0.2'],
  ['forged, 203.0.113.98', '203.0.113.98'],
  ['203.0.113.98, unknown', proxy],
  ['unknown', proxy],
  ['', proxy],
  ['127.1', proxy],
  ['0x7f000001', proxy],
  ['2130706433', proxy],
  ['203.0.113.98:port', proxy],
  ['203.0.113.098', proxy],
  ['[203.0.113.98', proxy],
  ['1'.repeat(10_000), proxy],
])('X-Forwarded-For: %s', (header, expected) => {
  expect(rewrite({ 'x-forwarded-for': header })).toBe(expected);
});

test.each([
  ['for=192.0.2.60;proto=http;by=203.0.113.43', '192.0.2.60'],
  ['For="192.0.2.60:4711"', '192.0.2.60'],
  ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
  ['for=192.0.2.43, for="[2001:db8::17]"', '192.0.2.43, 2001:db8::17'],
  ['for=forged, for=192.0.2.43;proto=https', '192.0.2.43'],
  ['for=192.0.2.43, for=_hidden', proxy],
  ['for=unknown', proxy],
  ['proto=https', proxy],
])('Forwarded: %s', (header, expected) => {
  expect(rewrite({ forwarded: header })).toBe(expected);
});

test.each([
  ['203.0.113.98', '203.0.113.98'],
  ['::ffff:203.0.113.98', '203.0.113.98'],
  ['::FFFF:cb00:7162', '203.0.113.98'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', ''],
])('the address %s of a connection or in a body is read as %s', (ip, expected) => {
  expect(readAddress({ ip })).toBe(expected);
});

test('X-Forwarded-For has precedence, and only trusted proxies are believed', () => {
  const headers = { 'x-forwarded-for': '192.0.2.1:80', forwarded: 'for=192.0.2.2' };
  expect(rewrite(headers)).toBe('192.0.2.1');
  expect(rewrite(headers, '198.51.100.1')).toBe('192.0.2.1:80');
  expect(rewrite({ forwarded: 'for=192.0.2.2' }, '198.51.100.1')).toBeUndefined();
  expect(rewrite({}, proxy)).toBeUndefined();
});
