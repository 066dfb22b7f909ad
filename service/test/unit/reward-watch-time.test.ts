import { describe, expect, test } from 'vitest';
import { exceedsCaps } from '../../src/decision/caps.ts';
import { isBot } from '../../src/decision/user-agent.ts';
import { checkTraffic } from '../../src/reward/check-events.ts';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import {
  isContradicted,
  isImpossible,
  isOverbooked,
  overlaps,
  deriveAdView,
  type AdView,
} from '../../src/reward/watch-time.ts';
import { createEvent, createPlacement } from './fixtures.ts';

const decision = { issuedAtMs: 0, requiredMs: 10_000 };
const createAdView = (
  fromMs: number,
  toMs = fromMs + 10_000,
  overrides: Partial<AdView> = {},
): AdView => ({
  issuedAtMs: Math.max(0, fromMs),
  fromMs,
  toMs,
  receivedAtMs: toMs,
  offsetMs: 0,
  requiredMs: 10_000,
  ...overrides,
});

describe('the derived ad view', () => {
  const findAdView = (start: RecordedEvent | undefined, complete: RecordedEvent) =>
    deriveAdView(decision, [...(start ? [start] : []), complete], complete);

  test('is not shortened when the start event arrives late', () => {
    const start = createEvent('start', 9_000, { offsetMs: 8_000 });
    expect(findAdView(start, createEvent('complete', 11_000))).toMatchObject({
      fromMs: 1_000,
      toMs: 11_000,
    });
  });

  test('does not overlap the next ad when the completion arrives late', () => {
    const complete = createEvent('complete', 19_000, { offsetMs: 8_000 });
    expect(findAdView(createEvent('start', 1_000), complete)).toMatchObject({
      fromMs: 1_000,
      toMs: 11_000,
    });
  });

  test.each([
    ['as long as the device says, since the decision at most', 5_000, 1_000],
    ['as long as required if the device says that it began before the decision', 5_001, 11_000],
  ])('is %s', (_, offsetMs, fromMs) => {
    const start = createEvent('start', 6_000, { offsetMs });
    const complete = createEvent('complete', 21_000);
    const adView = deriveAdView({ ...decision, issuedAtMs: 1_000 }, [start, complete], complete);
    expect(adView).toMatchObject({ fromMs, toMs: 21_000 });
  });

  test('is derived from the completion if the device clock changed during playback', () => {
    const complete = createEvent('complete', 11_000);
    for (const offsetMs of [3_600_000, 9_000, -5_000])
      expect(findAdView(createEvent('start', 1_000, { offsetMs }), complete).fromMs).toBe(1_000);
    const lateComplete = createEvent('complete', 11_000, { offsetMs: 3_600_000 });
    expect(findAdView(createEvent('start', 1_000), lateComplete)).toMatchObject({
      fromMs: 1_000,
      toMs: 11_000,
    });
  });

  test('lies between the decision and the arrival of its completion', () => {
    const complete = createEvent('complete', 0, { clamped: true, receivedAtMs: 30_000 });
    expect(findAdView(undefined, complete)).toMatchObject({ fromMs: 20_000, toMs: 30_000 });
    const completeAfterPause = createEvent('complete', 60_000, { receivedAtMs: 60_500 });
    expect(findAdView(createEvent('start', 2_000), completeAfterPause)).toMatchObject({
      fromMs: 2_000,
      receivedAtMs: 60_500,
    });
  });
});

describe('an event sequence', () => {
  const quartiles = (first: number, mid: number, third: number) => [
    createEvent('start', 0),
    createEvent('first_quartile', first),
    createEvent('midpoint', mid),
    createEvent('third_quartile', third),
  ];

  test('is valid at normal playback speed', () => {
    expect(isImpossible(decision, quartiles(2_500, 5_000, 7_500))).toBe(false);
    expect(isContradicted(10_000, quartiles(2_500, 5_000, 7_500))).toBe(false);
    expect(checkTraffic(10_000, quartiles(2_500, 5_000, 7_500))).toBeUndefined();
  });

  test('is impossible if it completes before the ad could have ended', () => {
    expect(isImpossible(decision, quartiles(150, 300, 450))).toBe(true);
    expect(isImpossible(decision, [createEvent('complete', 9_499)])).toBe(true);
    expect(
      isImpossible(decision, [createEvent('start', 9_000), createEvent('complete', 9_500)]),
    ).toBe(false);
  });

  test('contradicts the reward if it is shorter than the ad', () => {
    const createEvents = (offsetMs: number) => [
      createEvent('start', 9_000, { offsetMs }),
      createEvent('complete', 11_000),
    ];
    expect(isContradicted(10_000, createEvents(0))).toBe(true);
    expect(isContradicted(10_000, createEvents(8_000))).toBe(false);
    // The device clock was set back by an hour.
    const completeAfterClockChange = createEvent('complete', 20_000, { offsetMs: 3_600_000 });
    expect(isContradicted(10_000, [createEvent('start', 9_000), completeAfterClockChange])).toBe(
      false,
    );
  });

  test('may arrive out of order across several requests', () => {
    const events = [
      createEvent('complete', 11_000),
      createEvent('third_quartile', 14_000),
      createEvent('midpoint', 17_000),
      createEvent('start', 19_000),
    ];
    expect(checkTraffic(10_000, events)).toBeUndefined();
  });

  test('is invalid traffic if its times go backward twice within one request', () => {
    const sameRequest = { receivedAtMs: 30_000 };
    const events = [
      createEvent('start', 19_000, sameRequest),
      createEvent('impression', 12_000, sameRequest),
      createEvent('complete', 1_000, sameRequest),
    ];
    expect(checkTraffic(10_000, events)).toBe('impossible_order');
    expect(checkTraffic(10_000, events.slice(1))).toBeUndefined();
  });
});

describe('a player’s watch time', () => {
  test('covers ads that are watched back to back', () => {
    expect(
      isOverbooked(createAdView(20_000), [
        createAdView(0),
        createAdView(10_000),
        createAdView(30_000),
      ]),
    ).toBe(false);
  });

  test('does not cover two ads completed in the time it takes to watch one', () => {
    expect(isOverbooked(createAdView(0), [createAdView(0)])).toBe(true);
    expect(isOverbooked(createAdView(9_000, 19_000, { issuedAtMs: 0 }), [createAdView(0)])).toBe(
      false,
    );
  });

  test('covers watched ads whose events arrive late and out of order', () => {
    const lateAdViews = [0, 10_000, 20_000].map((fromMs) =>
      createAdView(fromMs, undefined, { receivedAtMs: 3_600_000 }),
    );
    expect(isOverbooked(createAdView(30_000), lateAdViews)).toBe(false);
  });

  test('is granted the tolerance only once, not once per ad', () => {
    const otherAdViews = [0, 1, 2, 3].map((index) =>
      createAdView(index * 9_000, undefined, { issuedAtMs: 0 }),
    );
    expect(isOverbooked(createAdView(36_000, 45_000, { issuedAtMs: 0 }), otherAdViews)).toBe(true);
  });

  test('overlaps if two ads were watched at the same time', () => {
    expect(overlaps(createAdView(7_000), [createAdView(0)])).toBe(true);
    expect(overlaps(createAdView(8_000), [createAdView(0)])).toBe(false);
    expect(overlaps(createAdView(50_000), [createAdView(0, 60_000)])).toBe(true);
  });

  test('overlaps by what is left when the slower ad is moved back', () => {
    const slower = createAdView(7_000, 17_000, { issuedAtMs: 0, offsetMs: 1_000 });
    expect(overlaps(slower, [createAdView(0)])).toBe(true);
    expect(overlaps(createAdView(0), [slower])).toBe(true);
  });

  test('does not overlap if an ad only seems longer because its requests were slow', () => {
    const slowAdView = createAdView(8_000, 18_000, { issuedAtMs: 0, offsetMs: 8_000 });
    expect(overlaps(createAdView(10_500), [slowAdView])).toBe(false);
    expect(overlaps(slowAdView, [createAdView(10_500)])).toBe(false);
    // An ad can't start before its decision was made.
    expect(overlaps(createAdView(10_500), [{ ...slowAdView, issuedAtMs: 8_000 }])).toBe(true);
  });
});

describe('a placement’s caps', () => {
  const cappedPlacement = createPlacement({ frequency_cap: { max: 2, per_s: 100 } });

  test('apply to completions in any order', () => {
    expect(exceedsCaps(cappedPlacement, [10_000, 20_000], 30_000)).toBe(true);
    expect(exceedsCaps(cappedPlacement, [30_000, 20_000], 10_000)).toBe(true);
    expect(exceedsCaps(cappedPlacement, [10_000, 30_000], 20_000)).toBe(true);
  });

  test('allow a completion until the cap is reached', () => {
    expect(exceedsCaps(cappedPlacement, [0, 120_000], 60_000)).toBe(false);
    expect(exceedsCaps(cappedPlacement, [10_000], 20_000)).toBe(false);
  });

  test('apply the cooldown before and after each completion', () => {
    const cooldownPlacement = createPlacement({ cooldown_s: 30 });
    expect(exceedsCaps(cooldownPlacement, [10_000], 39_999)).toBe(true);
    expect(exceedsCaps(cooldownPlacement, [39_999], 10_000)).toBe(true);
    expect(exceedsCaps(cooldownPlacement, [10_000], 40_000)).toBe(false);
  });
});

describe('invalid traffic', () => {
  test.each([
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', true, true],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/140.0.0.0', false, true],
    ['curl/8.1', false, true],
    ['', false, true],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0', false, false],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile', false, false],
    ['Mozilla/5.0 (Linux; Android 14; Cubot X70) Mobile', false, false],
  ])('includes the User-Agent %j: %s in the sandbox, %s in live', (userAgent, sandbox, live) => {
    expect(isBot(userAgent, 'sandbox')).toBe(sandbox);
    expect(isBot(userAgent, 'live')).toBe(live);
  });
});

describe('the tolerance of 2 s, or a quarter of a shorter ad', () => {
  const at = (type: RecordedEvent['type'], atMs: number) => [
    createEvent('start', 0),
    createEvent(type, atMs),
  ];
  const shortAd = (fromMs: number, toMs: number) =>
    createAdView(fromMs, toMs, { requiredMs: 4_000 });
  const backward = (ms: number) => {
    const sameRequest = { receivedAtMs: 90_000 };
    return [
      createEvent('start', 50_000, sameRequest),
      createEvent('first_quartile', 50_000 - ms, sameRequest),
      createEvent('midpoint', 50_000 - 2 * ms, sameRequest),
    ];
  };

  test.each<[string, (excessMs: number) => boolean]>([
    ['a completion', (ms) => isContradicted(10_000, at('complete', 7_500 - ms))],
    ['a midpoint', (ms) => isContradicted(10_000, at('midpoint', 2_750 - ms))],
    ["a short ad's completion", (ms) => isContradicted(4_000, at('complete', 2_800 - ms))],
    ["a quartile's arrival", (ms) => isImpossible(decision, at('first_quartile', 375 - ms))],
    ['two ads at once', (ms) => overlaps(createAdView(8_000 - ms), [createAdView(0)])],
    [
      'two short ads at once',
      (ms) => overlaps(shortAd(3_000 - ms, 7_000 - ms), [shortAd(0, 4_000)]),
    ],
    ['times that go backward', (ms) => checkTraffic(10_000, backward(2_000 + ms)) !== undefined],
    ["a short ad's times", (ms) => checkTraffic(4_000, backward(1_000 + ms)) !== undefined],
  ])('covers %s up to its limit', (_, exceeds) => {
    expect([exceeds(0), exceeds(1)]).toEqual([false, true]);
  });
});
