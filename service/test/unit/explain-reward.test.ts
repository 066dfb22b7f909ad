import { expect, test } from 'vitest';
import { explainReward } from '../../src/inspect/explain-decision.ts';

type Details = Parameters<typeof explainReward>[0];
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 12, 0, second));
const requested: Details = {
  status: 'filled',
  format: 'rewarded',
  requiredMs: 5_000,
  invalidReason: null,
  servedAt: null,
  lateAt: at(50),
  settledAt: null,
  rewardState: 'none',
  rewardReason: null,
  evidence: null,
  events: [],
};
const watched: Partial<Details> = {
  servedAt: at(1),
  events: [
    { type: 'impression', watchedMs: null },
    { type: 'complete', watchedMs: 5_250 },
  ],
};

test.each<[string, Partial<Details>, string[]]>([
  ['without an ad', { status: 'no_fill' }, ['The request was not filled, so there is no reward.']],
  ['of a banner', { format: 'banner' }, ['This banner placement has no reward.']],
  [
    'that was only requested',
    {},
    [
      'No impression has been reported yet.',
      'Required watch time: 5.0 s; reported: 0.0 s.',
      'Completion has not been reported yet.',
      'The reward can be earned until 2026-01-01T12:00:50.000Z.',
    ],
  ],
  [
    'without an end',
    { lateAt: null, requiredMs: null, events: [{ type: 'impression', watchedMs: null }] },
    [
      'An impression was reported but could not be verified.',
      'Required watch time: 0.0 s; reported: 0.0 s.',
      'Completion has not been reported yet.',
      'The reward can be earned until the ad ends.',
    ],
  ],
  [
    'that was earned',
    { ...watched, rewardState: 'earned', settledAt: at(9) },
    [
      'The impression was verified at 2026-01-01T12:00:01.000Z.',
      'Required watch time: 5.0 s; reported: 5.3 s.',
      'Completion was reported.',
      'The reward was earned at 2026-01-01T12:00:09.000Z.',
    ],
  ],
  [
    'that was denied',
    {
      ...watched,
      rewardState: 'denied',
      rewardReason: 'kill_switch',
      invalidReason: 'too_fast',
      settledAt: at(9),
    },
    [
      'The impression was verified at 2026-01-01T12:00:01.000Z.',
      'Required watch time: 5.0 s; reported: 5.3 s.',
      'Completion was reported.',
      'Classified as invalid traffic: too_fast.',
      'The reward was denied at 2026-01-01T12:00:09.000Z: kill_switch.',
    ],
  ],
  [
    'for which the network’s server must answer',
    { ...watched, evidence: 'source_attested' },
    [
      'Completion was reported.',
      'The network’s server has not confirmed the view yet.',
      'The reward can be earned until 2026-01-01T12:00:50.000Z.',
    ],
  ],
  [
    'for which the network’s server has answered',
    {
      evidence: 'source_attested',
      rewardState: 'earned',
      settledAt: at(9),
      events: [{ type: 'source_callback', watchedMs: null }],
    },
    [
      'Completion has not been reported yet.',
      'The network’s server has confirmed the view.',
      'The reward was earned at 2026-01-01T12:00:09.000Z.',
    ],
  ],
])('a reward %s is explained', (_name, details, sentences) => {
  expect(explainReward({ ...requested, ...details })).toEqual(sentences);
});
