import { expect, test } from 'vitest';
import type { Decision, Problem } from '../../../protocol/wire.ts';
import { noAdFromResponse, noAdFromDecision } from '../../../src/decision/no-ad.ts';

const now = Date.UTC(2030, 5, 5);
const decision: Decision = {
  id: 'dec_1',
  status: 'no_fill',
  placement: 'revive',
  format: 'rewarded',
  issued_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T00:10:00.000Z',
};

test.each([
  ['frequency_capped', 'frequency_capped'],
  ['cooldown', 'cooldown'],
  ['rate_limited', 'cooldown'],
  ['no_candidates', 'no_fill'],
  ['not_approved', 'no_fill'],
  ['budget', 'no_fill'],
  ['paused', 'no_fill'],
  ['killed', 'killed'],
  ['policy', 'blocked'],
  ['commercial', 'blocked'],
  ['brand_safety', 'blocked'],
  ['consent_required', 'not_ready'],
] as const)('a no-fill decision with reason %s has the outcome %s', (reason, outcome) =>
  expect(noAdFromDecision({ ...decision, reason }, now)).toEqual({
    outcome,
    reason,
    decisionId: 'dec_1',
  }),
);

test('an unknown reason from a newer service falls back to the status', () => {
  const reason = 'full_moon' as Decision['reason'] & string;
  expect(noAdFromDecision({ ...decision, reason }, now).outcome).toBe('no_fill');
  expect(noAdFromDecision({ ...decision, reason, status: 'blocked' }, now).outcome).toBe('blocked');
});

test('retryAt is correct on a device with a wrong clock', () => {
  const retry_at = '2026-01-01T00:00:45.000Z';
  expect(noAdFromDecision({ ...decision, retry_at }, now).retryAt).toEqual(new Date(now + 45_000));
});

const problem = (code: Problem['code']): Problem => ({
  type: '',
  title: '',
  status: 0,
  detail: '',
  code,
  request_id: '',
});

test.each([
  [{ kind: 'refused', problem: problem('placement_not_found') }, 'invalid_placement'],
  [{ kind: 'refused', problem: problem('key_unknown') }, 'error'],
  [{ kind: 'retry', status: 500 }, 'error'],
  [{ kind: 'retry', status: 408 }, 'timeout'],
  [{ kind: 'retry', status: 504 }, 'timeout'],
  [{ kind: 'unreachable', cause: 'timeout' }, 'timeout'],
  [{ kind: 'unreachable', cause: 'network' }, 'offline'],
  [{ kind: 'unreachable', cause: 'blocked' }, 'ad_blocked'],
  [{ kind: 'unreachable', cause: 'unexpected_response' }, 'offline'],
  [{ kind: 'unreachable', cause: 'aborted' }, 'aborted'],
] as const)('the response %j has the outcome %s', (response, outcome) =>
  expect(noAdFromResponse(response, now).outcome).toBe(outcome),
);

test('Retry-After from an overloaded service becomes retryAt', () => {
  const noAd = noAdFromResponse({ kind: 'retry', status: 503, retryAfterMs: 5_000 }, now);
  expect(noAd.retryAt).toEqual(new Date(now + 5_000));
});
