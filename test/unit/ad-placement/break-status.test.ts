import { expect, test } from 'vitest';
import { toBreakStatus } from '../../../src/ad-placement/run-break.ts';
import type { Outcome } from '../../../src/outcome.ts';

const table: Record<Outcome, [interstitial: string, reward: string]> = {
  rewarded: ['viewed', 'viewed'],
  pending: ['viewed', 'viewed'],
  completed: ['viewed', 'viewed'],
  dismissed: ['viewed', 'dismissed'],
  denied: ['other', 'other'],
  ad_free: ['other', 'other'],
  no_fill: ['noAdPreloaded', 'noAdPreloaded'],
  frequency_capped: ['frequencyCapped', 'frequencyCapped'],
  cooldown: ['frequencyCapped', 'frequencyCapped'],
  blocked: ['other', 'other'],
  killed: ['other', 'other'],
  ad_blocked: ['other', 'other'],
  offline: ['other', 'other'],
  timeout: ['timeout', 'timeout'],
  stalled: ['other', 'other'],
  already_showing: ['other', 'other'],
  aborted: ['other', 'other'],
  not_ready: ['notReady', 'notReady'],
  invalid_placement: ['invalid', 'invalid'],
  error: ['other', 'other'],
};

test.each(Object.entries(table) as [Outcome, [string, string]][])(
  'the outcome %s maps to Google’s breakStatus',
  (outcome, [interstitial, reward]) => {
    expect(toBreakStatus(outcome, 'interstitial')).toBe(interstitial);
    expect(toBreakStatus(outcome, 'reward')).toBe(reward);
  },
);
