import { oneOf, rateFormat, type Setting, wholeNumber } from './setting-formats.ts';

/** Rate limits. */
export const limitSettings = {
  RATE_LIMITS: {
    description: 'off disables every rate limit below',
    ...oneOf('on', 'off'),
    fallback: 'on',
  },
  RATE_LIMIT_KEY_LIVE: {
    description: 'requests per second and burst for a live key without a limit of its own',
    ...rateFormat,
    fallback: '2000/4000',
  },
  RATE_LIMIT_KEY_SANDBOX: {
    description: 'requests per second and burst for a sandbox key without a limit of its own',
    ...rateFormat,
    fallback: '500/1000',
  },
  RATE_LIMIT_KEY_CEILING: {
    description: 'the highest limit that can be set for a single key',
    ...rateFormat,
    fallback: '10000/20000',
  },
  RATE_LIMIT_ADDRESS: {
    description: 'requests with publishable keys per IPv4 address or IPv6 /64',
    ...rateFormat,
    fallback: '100/500',
  },
  RATE_LIMIT_USER_LIVE: {
    description: 'decisions per user in the live environment',
    ...rateFormat,
    fallback: '2/60',
  },
  RATE_LIMIT_USER_SANDBOX: {
    description: 'decisions per user in the sandbox',
    ...rateFormat,
    fallback: '2/60',
  },
  RATE_LIMIT_GUESTS: {
    description: 'new guest players per hour and per IPv4 address or IPv6 /64',
    ...wholeNumber(1, 1_000_000),
    fallback: '30',
  },
  WAITS_PER_KEY: {
    description: 'concurrent long-polling requests (wait_s) per key and process',
    ...wholeNumber(1, 10_000),
    fallback: '5000',
  },
  WAITS_PER_ADDRESS: {
    description:
      'concurrent long-polling requests with publishable keys, per process and IPv4 address or IPv6 /64',
    ...wholeNumber(1, 10_000),
    fallback: '100',
  },
} as const satisfies Record<string, Setting>;
