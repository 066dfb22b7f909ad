import { expect, test } from 'vitest';
import { ipGroup } from '../../src/http/limits/rate-limits.ts';

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
])('%s is in the rate-limit group %s', (ip, group) => {
  expect(ipGroup(ip)).toBe(group);
});
