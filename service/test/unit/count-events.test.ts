import { expect, test } from 'vitest';
import type { DecisionState } from '../../src/decision/decision-state.ts';
import { countEvents, countInvalid } from '../../src/reward/transitions.ts';
import { createEvent } from './fixtures.ts';

const scope = { accountId: 'acc_1', environment: 'live' } as const;
const decisions = new Map(
  [
    { id: 'dec_1', invalidReason: null },
    { id: 'dec_2', invalidReason: 'impossible_order' },
  ].map((decision) => [decision.id, decision as DecisionState]),
);

test.each([
  ['dec_1', 'bot'],
  ['dec_2', 'impossible_order'],
  ['dec_3', undefined],
])('an invalid event of %s is counted with the reason %s', (decisionId, reason) => {
  const counts = countInvalid(scope, [createEvent('start', 7, { decisionId })], decisions);
  expect(counts).toEqual(
    reason === undefined
      ? []
      : [
          {
            environment: 'live',
            dimensions: decisions.get(decisionId),
            atMs: 7,
            metric: 'invalid_traffic',
            reason,
          },
        ],
  );
});

test.each([
  ['start', 'dec_1', ['starts']],
  ['complete', 'dec_2', ['completes']],
  // What counts is the verified one.
  ['impression', 'dec_1', ['impressions_reported']],
  ['source_callback', 'dec_1', []],
  ['start', 'dec_3', []],
] as const)('an accepted event %s of %s is counted as %j', (type, decisionId, expected) => {
  const counts = countEvents(scope, [createEvent(type, 7, { decisionId })], decisions);
  expect(counts.map(({ metric, reason }) => [metric, reason])).toEqual(
    expected.map((metric) => [metric, undefined]),
  );
});
