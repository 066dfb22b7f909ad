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
    about: 'off: none of the limits below holds',
    ...oneOf('on', 'off'),
    fallback: 'on',
  },
  RATE_LIMIT_KEY_LIVE: {
    about: 'requests of a live key that has no limit of its own: a second, and at once',
    ...rate,
    fallback: '2000/4000',
  },
  RATE_LIMIT_KEY_SANDBOX: {
    about: 'the same for a sandbox key',
    ...rate,
    fallback: '500/1000',
  },
  RATE_LIMIT_KEY_CEILING: {
    about: 'the most that the limit of a key may be set to',
    ...rate,
    fallback: '10000/20000',
  },
  RATE_LIMIT_ADDRESS: {
    about: 'requests of an IPv4 address, or of the /64 of an IPv6 address, with publishable keys',
    ...rate,
    fallback: '100/500',
  },
  RATE_LIMIT_USER_LIVE: {
    about: 'decisions for one user in live',
    ...rate,
    fallback: '2/60',
  },
  RATE_LIMIT_USER_SANDBOX: {
    about: 'decisions for one user in the sandbox',
    ...rate,
    fallback: '2/60',
  },
  WAITS_PER_KEY: {
    about: 'requests with wait_s of one key that a process holds at a time',
    ...wholeNumber(1, 10_000),
    fallback: '5000',
  },
  WAITS_PER_ADDRESS: {
    about: 'the same of one address, or of the /64 of an IPv6 address, with publishable keys',
    ...wholeNumber(1, 10_000),
    fallback: '100',
  },
} as const satisfies Record<string, Setting>;
