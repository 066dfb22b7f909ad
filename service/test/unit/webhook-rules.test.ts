import { expect, test } from 'vitest';
import { maxAttempts, nextState, retryDelayMs } from '../../src/webhook/retry-schedule.ts';
import { findUrlProblem, isAllowedAddress } from '../../src/platform/guarded-agent.ts';

test.each([
  '127.0.0.1',
  '127.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  'fe80::1',
  'fd00:ec2::254',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '2002:a00:1::1',
  // IPv4 addresses embedded in IPv6: loopback, private and public.
  '::127.0.0.1',
  '::7f00:1',
  '::10.0.0.1',
  '::8.8.8.8',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:7f00:1::',
  '2002:808:808::1',
  '2001:0:808:808::1',
  'fe80::5efe:8.8.8.8',
  // Neither assigned nor reserved.
  '4000::1',
  'fec0::1',
  'unknown',
  '',
])('webhooks cannot be sent to %s', (address) => {
  expect(isAllowedAddress(address, { loopback: false })).toBe(false);
});

test.each(['93.184.215.14', '1.1.1.1', '2606:4700:4700::1111', '64:ff9b::101:101'])(
  'webhooks can be sent to %s',
  (address) => {
    expect(isAllowedAddress(address, { loopback: false })).toBe(true);
  },
);

test('in development, loopback addresses are allowed, but private ones are not', () => {
  expect(isAllowedAddress('127.0.0.1', { loopback: true })).toBe(true);
  expect(isAllowedAddress('::1', { loopback: true })).toBe(true);
  expect(isAllowedAddress('10.0.0.1', { loopback: true })).toBe(false);
  expect(isAllowedAddress('169.254.169.254', { loopback: true })).toBe(false);
});

test.each([
  ['https://example.com/hook', false, true],
  ['http://example.com/hook', false, false],
  ['http://example.com/hook', true, false],
  ['http://localhost:3000/', true, true],
  ['http://127.0.0.1:3000/', true, true],
  ['http://[::1]:3000/', true, true],
  ['http://localhost:3000/', false, false],
  ['https://localhost/', false, false],
  ['https://2130706433/', false, false],
  ['https://0x7f.1/', false, false],
  ['https://0177.0.0.1/', false, false],
  ['https://[::ffff:127.0.0.1]/', false, false],
  ['https://[::127.0.0.1]/', false, false],
  ['https://[::7f00:1]/', false, false],
  ['https://[::8.8.8.8]/', false, false],
  ['https://[::ffff:8.8.8.8]/', false, false],
  ['https://[::ffff:0:8.8.8.8]/', false, false],
  ['https://[64:ff9b::8.8.8.8]/', false, false],
  ['https://[64:ff9b::127.0.0.1]/', true, false],
  ['https://[2002:808:808::1]/', false, false],
  ['https://[2606:4700:4700::1111]/', false, true],
  ['https://10.0.0.1/', true, false],
  ['https://a:b@example.com/', false, false],
  ['https://localhost./', false, false],
  ['https://hook.localhost./', false, false],
  ['https://localhost./', true, true],
  ['https://example.com./', false, true],
  ['/hook', false, false],
])('%s (development: %s) is a valid webhook URL: %s', (url, development, expected) => {
  expect(findUrlProblem(url, { development }) === undefined).toBe(expected);
});

test('retries back off with ±20% jitter, up to ten attempts in total', () => {
  const delays = Array.from({ length: maxAttempts }, (_, attempts) => retryDelayMs(attempts, 0.5));
  expect(delays.map((delay) => (delay ?? 0) / 1_000)).toEqual([
    0, 5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 86_400,
  ]);
  expect(retryDelayMs(1, 0)).toBe(4_000);
  expect(retryDelayMs(1, 0.999_999)).toBe(6_000);
  expect(retryDelayMs(maxAttempts, 0.5)).toBeUndefined();
});

test.each([
  [200, true],
  [201, true],
  [202, true],
  [204, true],
  [299, true],
  [199, false],
  [300, false],
  [304, false],
  [400, false],
  [429, false],
  [500, false],
  [undefined, false],
])('an endpoint that answers with %s has the event: %s', (status, hasIt) => {
  const result = { startedAtMs: 0, latencyMs: 1, ...(status === undefined ? {} : { status }) };
  expect(nextState(result, 1, 0.5).state).toBe(hasIt ? 'delivered' : 'pending');
});

test('a passing failure is retried soon eight times, and keeps the last retry', () => {
  const result = { startedAtMs: 0, latencyMs: 10_000, error: 'no response' };
  const delays = (isPassing: boolean, status?: number) =>
    Array.from({ length: maxAttempts }, (_, index) => {
      const next = nextState(
        status === undefined ? result : { ...result, status },
        index + 1,
        0.5,
        isPassing,
      );
      return next.state === 'pending' ? next.delayMs : next.state;
    });
  const last = [36_000_000, 86_400_000, 'failed'];
  expect(delays(true)).toEqual([...Array<number>(8).fill(2_000), ...last.slice(1)]);
  expect(delays(false).slice(-3)).toEqual(last);
  expect(delays(false)[2]).toBe(120_000);
  expect(delays(true, 410)[0]).toBe('failed');
  expect(nextState({ ...result, status: 503, retryAfterMs: 60_000 }, 1, 0.5, true)).toEqual({
    state: 'pending',
    delayMs: 60_000,
  });
});
