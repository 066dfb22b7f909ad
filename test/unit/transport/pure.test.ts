import { expect, test } from 'vitest';
import { backOffMs } from '../../../src/transport/back-off.ts';
import { parseRetryAfter } from '../../../src/transport/service-client.ts';

const now = Date.UTC(2026, 0, 1, 12);

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['86400', 3_600_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['Fri, 02 Jan 2026 12:00:00 GMT', 3_600_000],
])('Retry-After %j means %d ms', (value, expected) =>
  expect(parseRetryAfter(value, now)).toBe(expected),
);

test.each([null, '', 'soon', '-1', '1.5', '1e3', '2026-01-01'])(
  'Retry-After %j is invalid',
  (value) => expect(parseRetryAfter(value, now)).toBeUndefined(),
);

test('back-off doubles from one second to five minutes, with full jitter', () => {
  const longest = [1, 2, 3, 4, 9, 10, 50].map((failures) => backOffMs(failures, () => 1));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  expect(backOffMs(5, () => 0)).toBe(0);
  expect(backOffMs(5, () => 0.5)).toBe(8_000);
});

test('back-off never ends before the service’s Retry-After', () => {
  expect(backOffMs(1, () => 0, 30_000)).toBe(30_000);
});
