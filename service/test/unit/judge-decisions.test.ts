import { expect, test } from 'vitest';
import type { DecisionState, RecordedEvent } from '../../src/decision/decision-state.ts';
import { compileSnapshot } from '../../src/decision/snapshot.ts';
import { judgeDecisions } from '../../src/reward/judge-decisions.ts';
import type { Transition } from '../../src/reward/transitions.ts';
import { createPlacement } from './fixtures.ts';

const createDecision = (overrides: Partial<DecisionState> = {}): DecisionState =>
  ({
    id: 'dec_1',
    accountId: 'acc_1',
    environment: 'sandbox',
    placement: 'revive',
    format: 'rewarded',
    mediaFormat: 'video',
    issuedAtMs: 0,
    expiresAtMs: 600_000,
    lateAtMs: 3_600_000,
    requiredMs: 10_000,
    evidence: null,
    servedAtMs: null,
    invalidReason: null,
    rewardState: 'none',
    rewardReason: null,
    settledAtMs: null,
    ...overrides,
  }) as DecisionState;

/** Events of one request, in the order in which they occurred. */
const createEvents = (...types: RecordedEvent['type'][]): RecordedEvent[] =>
  types.map((type, index) => ({
    id: `event-${type}`,
    decisionId: 'dec_1',
    type,
    occurredAtMs: 1_000 + index * 5_000,
    receivedAtMs: 60_000,
    offsetMs: 0,
    clamped: false,
  }));

function judge(decision: DecisionState, events: RecordedEvent[]) {
  const history: Transition[] = [];
  const transitions = judgeDecisions(
    {
      snapshot: compileSnapshot([{ kind: 'placement', document: createPlacement() }]),
      nowMs: 60_000,
      recordedEvents: new Map([['dec_1', events]]),
      history: {
        add: (transition: Transition) => void history.push(transition),
        otherAdViews: () => [],
        rewardTimesNear: () => [],
      } as never,
      rejectedCompletions: new Map(),
    },
    [decision],
  );
  expect(history).toEqual(transitions);
  return transitions.map(({ after }) => ({
    invalidReason: after.invalidReason,
    servedAtMs: after.servedAtMs,
    rewardState: after.rewardState,
  }));
}

const impossibleOrder = createEvents('midpoint', 'first_quartile', 'start');

test('an impossible order marks an ad as invalid traffic, even before it is completed', () => {
  expect(judge(createDecision(), impossibleOrder)).toEqual([
    { invalidReason: 'impossible_order', servedAtMs: null, rewardState: 'none' },
  ]);
});

test('a decision without news does not change', () => {
  expect(judge(createDecision(), createEvents('start'))).toEqual([]);
  expect(judge(createDecision({ invalidReason: 'impossible_order' }), impossibleOrder)).toEqual([]);
});
