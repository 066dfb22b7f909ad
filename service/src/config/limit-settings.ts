import { oneOf, type Setting, wholeNumber } from './setting.ts';

const rate = {
  expected: 'requests per second and burst, such as 100/500, each from 1 to 1000000',
  valid: (text: string) =>
    /^\d+\/\d+$/.test(text) &&
    text.split('/').every((each) => Number(each) >= 1 && Number(each) <= 1_000_000),
};

/** Rate limits. */
export const limitSettings = {
  RATE_LIMITS: {
    about: 'off disables every rate limit below',
    ...oneOf('on', 'off'),
    fallback: 'on',
  },
  RATE_LIMIT_KEY_LIVE: {
    about: 'requests per second and burst of a live key that has no limit of its own',
    ...rate,
    fallback: '2000/4000',
  },
  RATE_LIMIT_KEY_SANDBOX: {
    about: 'requests per second and burst of a sandbox key that has no limit of its own',
    ...rate,
    fallback: '500/1000',
  },
  RATE_LIMIT_KEY_CEILING: {
    about: 'the highest limit that can be set for a single key',
    ...rate,
    fallback: '10000/20000',
  },
  RATE_LIMIT_ADDRESS: {
    about: 'requests with publishable keys per IPv4 address or IPv6 /64',
    ...rate,
    fallback: '100/500',
  },
  RATE_LIMIT_USER_LIVE: {
    about: 'decisions per user in live',
    ...rate,
    fallback: '2/60',
  },
  RATE_LIMIT_USER_SANDBOX: {
    about: 'decisions per user in the sandbox',
    ...rate,
    fallback: '2/60',
  },
  WAITS_PER_KEY: {
    about: 'concurrent long-polling requests (wait_s) per key and process',
    ...wholeNumber(1, 10_000),
    fallback: '5000',
  },
  WAITS_PER_ADDRESS: {
    about:
      'concurrent long-polling requests with publishable keys, per process and IPv4 address or IPv6 /64',
    ...wholeNumber(1, 10_000),
    fallback: '100',
  },
} as const satisfies Record<string, Setting>;
