import type { Placement } from '@trueward/protocol/wire';
import { expect, test } from 'vitest';
import { decide } from '../../src/decision/decide.ts';
import { describeDecision } from '../../src/decision/describe-decision.ts';
import { compileSnapshot } from '../../src/decision/snapshot.ts';
import { ad, placement } from './fixtures.ts';

/** Makes decisions of one configuration, and tells their kind. */
function configure(place: Partial<Placement> = {}) {
  const document = placement(place);
  const snapshot = compileSnapshot([{ kind: 'placement', document }, ...ad('a')]);
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
      dailyBudgets: new Map(),
      nowMs: Date.UTC(2026, 5, 1),
      random: 0,
    });
    const { made } = describeDecision({
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
    return made.record.kind;
  };
}

test('decisions of one configuration that end alike are of one kind, and others are not', () => {
  const kindOf = configure();
  const filled = kindOf();
  expect(filled).toMatchObject({ status: 'filled', creative_id: 'crv_a', invalid_reason: null });
  expect(kindOf()).toBe(filled);
  expect(kindOf({ bot: true })).toMatchObject({ status: 'filled', invalid_reason: 'bot' });

  const unfilled = kindOf({ formats: ['html'] });
  expect(unfilled).toMatchObject({ status: 'no_fill', creative_id: null });
  expect(kindOf({ formats: ['html'] })).toBe(unfilled);

  const paused = configure({ status: 'paused' })();
  expect(paused).toMatchObject({ status: 'no_fill', reason: 'paused' });
  expect(unfilled.reason).not.toBe('paused');
  expect(configure()()).not.toBe(filled);
});
