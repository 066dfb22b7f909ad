import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { addressGroup, createClientAddress } from '../../src/http/client-address.ts';

const from = (remoteAddress: string, forwarded: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as never;

test.each([
  ['nobody is trusted', undefined, '10.0.0.1', '203.0.113.9', '10.0.0.1'],
  ['a trusted balancer tells', ['uniquelocal'], '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  [
    'only the last link that is ours counts',
    ['10.0.0.0/8'],
    '10.0.0.1',
    '1.1.1.1, 203.0.113.9',
    '203.0.113.9',
  ],
  ['somebody else is not believed', ['loopback'], '198.51.100.7', '203.0.113.9', '198.51.100.7'],
])('%s who the client is', (_what, trusted, remote, forwarded, expected) => {
  expect(createClientAddress(trusted)(from(remote, forwarded))).toBe(expected);
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['not:an:address', 'not:an:address'],
  ['', ''],
])('%s is limited as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
