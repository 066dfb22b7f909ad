import { describe, expect, test } from 'vitest';
import { checkImpression, checkArrival } from '../../src/reward/check-events.ts';
import type { DecisionState, RecordedEvent } from '../../src/decision/decision-state.ts';
import { checkReward, type RewardInput } from '../../src/reward/check-reward.ts';
import type { AdView } from '../../src/reward/watch-time.ts';
import { createEvent } from './fixtures.ts';

const decision = {
  format: 'rewarded',
  reward: { type: 'coins', amount: 5 },
  requiredMs: 10_000,
  simulate: null,
  issuedAtMs: 0,
} as const;
const complete = createEvent('complete', 11_000, { watchedMs: 10_000 });
const createOtherAdView = (fromMs: number, toMs: number): AdView => ({
  issuedAtMs: fromMs,
  fromMs,
  toMs,
  receivedAtMs: toMs,
  offsetMs: 0,
  requiredMs: 10_000,
});
const evaluateReward = (overrides: Partial<RewardInput> = {}) =>
  checkReward({
    decision,
    events: [createEvent('start', 1_000), complete],
    servedAtMs: 3_000,
    killed: false,
    invalid: false,
    otherAdViews: [],
    capped: false,
    isPlayerProven: false,
    ...overrides,
  });

describe('a reward', () => {
  test('is earned by watching the ad', () => {
    expect(evaluateReward()).toEqual({
      state: 'earned',
      adView: {
        issuedAtMs: 0,
        fromMs: 1_000,
        toMs: 11_000,
        receivedAtMs: 11_000,
        offsetMs: 0,
        requiredMs: 10_000,
      },
    });
  });

  test('requires a completion and is never earned by a banner', () => {
    expect(evaluateReward({ events: [createEvent('start', 1_000)] })).toBeUndefined();
    expect(evaluateReward({ decision: { ...decision, format: 'banner' } })).toBeUndefined();
  });

  test.each<[string, Partial<RewardInput>, string | undefined]>([
    [
      '95% of the ad was watched',
      {
        events: [
          createEvent('start', 1_000),
          createEvent('complete', 10_500, { watchedMs: 9_500 }),
        ],
      },
      undefined,
    ],
    [
      'the completion is earlier than possible',
      { events: [createEvent('complete', 9_499, { watchedMs: 10_000 })] },
      'impossible_timing',
    ],
    [
      'a quartile is earlier than possible',
      { events: [createEvent('third_quartile', 5_124), complete] },
      'impossible_timing',
    ],
    [
      'a quartile is as early as possible',
      { events: [createEvent('third_quartile', 5_125), complete] },
      undefined,
    ],
    ['a kill switch is on', { killed: true }, 'killed'],
    ['the traffic is invalid', { invalid: true }, 'invalid_traffic'],
    [
      'the placement has no reward',
      { decision: { ...decision, reward: null } },
      'not_rewarded_placement',
    ],
    [
      'a player who has proven who they are reaches the cap',
      { capped: true, isPlayerProven: true },
      'frequency_capped',
    ],
    [
      'another ad ended just before',
      { otherAdViews: [createOtherAdView(-9_000, 1_500)] },
      undefined,
    ],
    [
      'the denial is simulated',
      { decision: { ...decision, simulate: 'reward_denied' } },
      'simulated',
    ],
  ])('is earned or denied when %s', (_name, input, reason) => {
    expect(evaluateReward(input)).toMatchObject(
      reason === undefined ? { state: 'earned' } : { state: 'denied', reason },
    );
  });

  test.each<[string, Partial<RewardInput>, string]>([
    ['an impression', { servedAtMs: undefined }, 'no_impression'],
    ['proof that one player reached the cap', { capped: true }, 'frequency_capped'],
    [
      'evidence that 95% was watched',
      {
        events: [
          createEvent('start', 1_000),
          createEvent('complete', 11_000, { watchedMs: 9_499 }),
        ],
      },
      'watched_too_little',
    ],
    ['a watch time', { events: [createEvent('complete', 11_000)] }, 'watched_too_little'],
    [
      'evidence that more than a file that is too short was watched',
      {
        events: [
          createEvent('start', 500),
          createEvent('first_quartile', 1_500, { watchedMs: 1_000 }),
          createEvent('midpoint', 2_500, { watchedMs: 2_000 }),
          createEvent('third_quartile', 3_500, { watchedMs: 3_000 }),
          createEvent('complete', 4_500, { watchedMs: 4_000 }),
        ],
      },
      'watched_too_little',
    ],
    [
      'evidence that the ad was watched from the start',
      { events: [createEvent('start', 5_000), complete] },
      'impossible_timing',
    ],
    [
      'enough time for this ad and another one',
      { otherAdViews: [createOtherAdView(0, 10_000)] },
      'overlapping_watch',
    ],
    [
      'evidence that no other ad was watched at the same time',
      { otherAdViews: [{ ...createOtherAdView(5_000, 15_000), issuedAtMs: -60_000 }] },
      'overlapping_watch',
    ],
  ])('is pending without %s', (_name, input, reason) => {
    expect(evaluateReward(input)).toEqual({ state: 'pending', reason });
  });

  test('is earned if the start event arrives late', () => {
    const start = createEvent('start', 9_000, { offsetMs: 8_000 });
    expect(evaluateReward({ events: [start, complete] })).toMatchObject({ state: 'earned' });
  });

  test('is based on corrected times if all events arrive late in one batch', () => {
    const createLateEvent = (type: RecordedEvent['type'], atMs: number, overrides = {}) =>
      createEvent(type, atMs, { receivedAtMs: 90_000, ...overrides });
    expect(
      evaluateReward({
        events: [
          createLateEvent('start', 1_000),
          createLateEvent('complete', 11_000, { watchedMs: 10_000 }),
        ],
      }),
    ).toMatchObject({ state: 'earned' });
    expect(
      evaluateReward({
        events: [
          createLateEvent('start', 6_000),
          createLateEvent('complete', 11_000, { watchedMs: 10_000 }),
        ],
      }),
    ).toEqual({ state: 'pending', reason: 'impossible_timing' });
  });

  test('is earned by a completion that follows one with too little watch time', () => {
    const tooLittle = createEvent('complete', 4_500, { watchedMs: 4_000 });
    expect(
      evaluateReward({ events: [createEvent('start', 1_000), tooLittle, complete] }),
    ).toMatchObject({ state: 'earned' });
  });

  test('is based on the earliest completion', () => {
    const earlyComplete = createEvent('complete', 4_000, { watchedMs: 10_000 });
    expect(
      evaluateReward({ events: [createEvent('start', 1_000), complete, earlyComplete] }),
    ).toMatchObject({
      reason: 'impossible_timing',
    });
  });
});

describe('an impression', () => {
  const createImpression = (
    ratio: number,
    ms: number,
    type: RecordedEvent['type'] = 'impression',
    atMs = 5_000,
  ) => createEvent(type, atMs, { visible: { ratio, ms } });

  test.each<[string, DecisionState['mediaFormat'], RecordedEvent[], number | undefined]>([
    [
      'requires half of an image to be visible for one second',
      'image',
      [createImpression(0.5, 1_000)],
      5_000,
    ],
    [
      'requires more than one second for a video',
      'video',
      [createImpression(0.5, 1_000)],
      undefined,
    ],
    ['requires two seconds for a video', 'video', [createImpression(1, 2_000)], 5_000],
    [
      'does not count if less than half of the ad is visible',
      'html',
      [createImpression(0.49, 5_000)],
      undefined,
    ],
    [
      'does not count if the ad is visible for less than a second',
      'html',
      [createImpression(1, 999)],
      undefined,
    ],
    [
      'counts if the evidence is in a `viewable` event',
      'image',
      [createEvent('impression', 4_000), createImpression(1, 1_000, 'viewable')],
      5_000,
    ],
    [
      'does not count if the evidence is in another type of event',
      'image',
      [createImpression(1, 1_000, 'complete')],
      undefined,
    ],
    ['does not count without evidence', 'image', [createEvent('impression', 4_000)], undefined],
    [
      'does not count if the evidence arrives long after the ad expired',
      'image',
      [createImpression(1, 1_000, 'viewable', 660_001)],
      undefined,
    ],
    [
      'does not count if the visible time is longer than the time since the decision',
      'image',
      [createImpression(1, 1_000, 'impression', 900)],
      undefined,
    ],
  ])('%s', (_name, mediaFormat, events, expected) => {
    expect(checkImpression({ mediaFormat, issuedAtMs: 0, expiresAtMs: 600_000 }, events)).toBe(
      expected,
    );
  });
});

describe('an event', () => {
  const state = {
    lateAtMs: 100_000,
    expiresAtMs: 50_000,
    invalidReason: null,
  } as DecisionState;

  test.each<[string, RecordedEvent, boolean, string | undefined]>([
    ['that arrives in time is accepted', createEvent('start', 50_000), false, undefined],
    ['that starts an expired ad is rejected', createEvent('start', 50_001), false, 'expired'],
    [
      'whose request was in flight when the ad expired is accepted',
      createEvent('start', 90_000, { offsetMs: 45_000 }),
      false,
      undefined,
    ],
    [
      'for an ad that started in time is accepted',
      createEvent('complete', 99_000),
      false,
      undefined,
    ],
    [
      'that arrives after the late window is rejected',
      createEvent('complete', 100_001),
      false,
      'late',
    ],
    [
      'that a device dates back into the late window is rejected',
      createEvent('complete', 100_001, { occurredAtMs: 1_000 }),
      false,
      'late',
    ],
    [
      'that a device dates after the late window is accepted if it arrives in time',
      createEvent('complete', 100_000, { occurredAtMs: 900_000 }),
      false,
      undefined,
    ],
    ['for a killed ad is rejected', createEvent('impression', 1_000), true, 'killed'],
    ['that closes a killed ad is accepted', createEvent('close', 1_000), true, undefined],
  ])('%s', (_name, input, killed, expected) => {
    expect(checkArrival(input, state, killed)).toBe(expected);
  });

  test.each<[RecordedEvent['type'], isCounted: boolean]>([
    ['impression', true],
    ['viewable', true],
    ['complete', true],
    ['click', true],
    ['source_callback', true],
    ['start', false],
    ['first_quartile', false],
    ['midpoint', false],
    ['third_quartile', false],
    ['skip', false],
    ['close', false],
    ['error', false],
  ])('of type %s is billed or rewarded, and then rejected: %j', (type, isCounted) => {
    const bot = { ...state, invalidReason: 'bot' } as DecisionState;
    const input = createEvent(type, 1_000);
    const codes = [checkArrival(input, bot, false), checkArrival(input, state, true)];
    expect(codes).toEqual(isCounted ? ['invalid_traffic', 'killed'] : [undefined, undefined]);
    if (isCounted) expect(checkArrival(input, bot, true)).toBe('invalid_traffic');
  });
});
