import type { Placement } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { decide } from '../../src/decision/decide.ts';
import { describeDecision } from '../../src/decision/describe-decision.ts';
import { compileSnapshot } from '../../src/decision/snapshot.ts';
import { createAdResources, createPlacement } from './fixtures.ts';

/** Returns a function that makes a decision with this configuration, and returns its row and the response. */
function configure(change: Partial<Placement> = {}) {
  const document = createPlacement(change);
  const snapshot = compileSnapshot([{ kind: 'placement', document }, ...createAdResources('a')]);
  const entry = snapshot.placements.get(document.name);
  if (!entry) throw new Error('The placement is missing.');
  return ({ bot = false, formats = ['image'] as ('image' | 'html')[] } = {}) => {
    const request = { placement: document.name, user_ref: 'user', formats };
    const verdict = decide({
      snapshot,
      entry,
      request,
      context: {
        childDirected: false,
        hour: 12,
        language: 'en',
        device: 'mobile',
        segments: [],
      },
      servedAtMs: [],
      pageAdsAtMs: [],
      ruleEnds: new Map(),
      adFree: [],
      dailyBudgets: new Map(),
      nowMs: Date.UTC(2026, 5, 1),
      random: 0,
    });
    const { decision, newDecision } = describeDecision({
      id: 'dec_1',
      scope: { accountId: 'acc_1', environment: 'live' },
      entry,
      request,
      viewer: undefined,
      verdict,
      bot,
      nowMs: 0,
      sign: () => '',
    });
    return { ...newDecision.record, decision };
  };
}

test('a decision’s row contains its status and the ad that was chosen', () => {
  const record = configure();
  expect(record()).toMatchObject({ status: 'filled', creative_id: 'crv_a', invalid_reason: null });
  expect(record({ bot: true })).toMatchObject({ status: 'filled', invalid_reason: 'bot' });
  const unfilled = { status: 'no_fill', creative_id: null, late_at: null };
  expect(record({ formats: ['html'] })).toMatchObject(unfilled);
  expect(configure({ status: 'paused' })()).toMatchObject({ ...unfilled, reason: 'paused' });
});

test('only an ad over the game has a time after which it can be closed', () => {
  for (const format of ['rewarded', 'interstitial'] as const)
    expect(configure({ format, close_after_ms: 7_000 })().decision.close_after_ms).toBe(7_000);
  const { decision } = configure({ format: 'banner' })();
  expect([decision.creative?.id, decision.close_after_ms]).toEqual(['crv_a', undefined]);
});
