import type { Decision } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { writeDecision } from '../../src/http/write-decision.ts';

const unfilled: Decision = {
  id: 'dec_1',
  status: 'no_fill',
  reason: 'cooldown',
  retry_at: '2026-01-01T00:00:00.000Z',
  placement: 'revive',
  format: 'rewarded',
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:10:00.000Z',
};
const { reason: _reason, retry_at: _retryAt, ...rest } = unfilled;
const banner: Decision = {
  ...rest,
  status: 'filled',
  format: 'banner',
  token: 'a.b',
  creative: {
    id: 'crv_1',
    alt: 'Une publicité 🎁',
    media: { format: 'html', inline: '<b title="a">\u2028</b>', width: 1, height: 1 },
    click_url: 'https://a.example/\u2028',
  },
};
/** All that an answer can have. */
const rewarded: Required<Omit<Decision, 'reason' | 'retry_at' | 'explain'>> = {
  ...banner,
  format: 'rewarded',
  token: 'a.b',
  creative: banner.creative as NonNullable<Decision['creative']>,
  reward: { type: 'a "coin"', amount: 25 },
  min_watch_ms: 0,
  close_after_ms: 5_000,
};

test.each<[string, Decision]>([
  ['no ad', unfilled],
  ['a banner', banner],
  ['a rewarded ad', rewarded],
  ['a rewarded ad again', rewarded],
  ['an explained one', { ...rewarded, explain: [] }],
])('%s is written as JSON in ASCII', (_name, decision) => {
  const text = writeDecision(decision);
  expect(JSON.parse(text)).toEqual(decision);
  expect(text).toMatch(/^[ -~]+$/);
});
