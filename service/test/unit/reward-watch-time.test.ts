import { describe, expect, test } from 'vitest';
import { exceedsCaps } from '../../src/decision/caps.ts';
import { isBot } from '../../src/event/bots.ts';
import { checkTraffic } from '../../src/event/check-events.ts';
import type { RecordedEvent } from '../../src/decision/decision-state.ts';
import {
  isContradicted,
  isImpossible,
  isOverbooked,
  overlaps,
  watchOf,
  type Watch,
} from '../../src/reward/watch-time.ts';
import { placement } from './fixtures.ts';

/** All times are in milliseconds since the decision; `offsetMs` is what a request took, and the skew. */
const event = (
  type: RecordedEvent['type'],
  atMs: number,
  more: Partial<RecordedEvent> = {},
): RecordedEvent => ({
  id: `${type}-${atMs}`,
  decisionId: 'dec_1',
  type,
  occurredAtMs: atMs,
  receivedAtMs: atMs,
  offsetMs: 0,
  clamped: false,
  ...more,
});
const decision = { issuedAtMs: 0, requiredMs: 10_000 };
const watch = (fromMs: number, toMs = fromMs + 10_000, more: Partial<Watch> = {}): Watch => ({
  issuedAtMs: Math.max(0, fromMs),
  fromMs,
  toMs,
  byMs: toMs,
  offsetMs: 0,
  requiredMs: 10_000,
  ...more,
});

describe('the time of a watch', () => {
  const of = (start: RecordedEvent | undefined, complete: RecordedEvent) =>
    watchOf(decision, [...(start ? [start] : []), complete], complete);

  test('is not shortened by a start whose request was slow', () => {
    const start = event('start', 9_000, { offsetMs: 8_000 });
    expect(of(start, event('complete', 11_000))).toMatchObject({ fromMs: 1_000, toMs: 11_000 });
  });

  test('is not moved into the next ad by a completion whose request was slow', () => {
    const complete = event('complete', 19_000, { offsetMs: 8_000 });
    expect(of(event('start', 1_000), complete)).toMatchObject({ fromMs: 1_000, toMs: 11_000 });
  });

  test('goes by the completion when the clock of the device was set meanwhile', () => {
    const complete = event('complete', 11_000);
    for (const offsetMs of [3_600_000, 9_000, -5_000])
      expect(of(event('start', 1_000, { offsetMs }), complete).fromMs).toBe(1_000);
    const back = event('complete', 11_000, { offsetMs: 3_600_000 });
    expect(of(event('start', 1_000), back)).toMatchObject({ fromMs: 1_000, toMs: 11_000 });
  });

  test('lies between the decision and the receipt, whatever was stated', () => {
    const complete = event('complete', 0, { clamped: true, receivedAtMs: 30_000 });
    expect(of(undefined, complete)).toMatchObject({ fromMs: 20_000, toMs: 30_000 });
    const paused = event('complete', 60_000, { receivedAtMs: 60_500 });
    expect(of(event('start', 2_000), paused)).toMatchObject({ fromMs: 2_000, byMs: 60_500 });
  });
});

describe('what arrives', () => {
  const quartiles = (first: number, mid: number, third: number) => [
    event('start', 0),
    event('first_quartile', first),
    event('midpoint', mid),
    event('third_quartile', third),
  ];

  test('at the speed of the ad is good', () => {
    expect(isImpossible(decision, quartiles(2_500, 5_000, 7_500))).toBe(false);
    expect(isContradicted(10_000, quartiles(2_500, 5_000, 7_500))).toBe(false);
    expect(checkTraffic(10_000, quartiles(2_500, 5_000, 7_500))).toBeUndefined();
  });

  test('sooner after the decision than it can have happened is impossible', () => {
    expect(isImpossible(decision, quartiles(150, 300, 450))).toBe(true);
    expect(isImpossible(decision, [event('complete', 9_499)])).toBe(true);
    expect(isImpossible(decision, [event('start', 9_000), event('complete', 9_500)])).toBe(false);
  });

  test('sooner after the start than the ad takes is no proof of a watch, unless the start was slow', () => {
    const late = (offsetMs: number) => [
      event('start', 9_000, { offsetMs }),
      event('complete', 11_000),
    ];
    expect(isContradicted(10_000, late(0))).toBe(true);
    expect(isContradicted(10_000, late(8_000))).toBe(false);
    // The clock of the device was set back by an hour.
    const set = event('complete', 20_000, { offsetMs: 3_600_000 });
    expect(isContradicted(10_000, [event('start', 9_000), set])).toBe(false);
  });

  test('in any order over several requests is the way of networks', () => {
    const events = [
      event('complete', 11_000),
      event('third_quartile', 14_000),
      event('midpoint', 17_000),
      event('start', 19_000),
    ];
    expect(checkTraffic(10_000, events)).toBeUndefined();
  });

  test('in one request, in an order that one change of the clock does not explain, is a script', () => {
    const together = { receivedAtMs: 30_000 };
    const events = [
      event('start', 19_000, together),
      event('impression', 12_000, together),
      event('complete', 1_000, together),
    ];
    expect(checkTraffic(10_000, events)).toBe('impossible_order');
    expect(checkTraffic(10_000, events.slice(1))).toBeUndefined();
  });
});

describe('the time of a user', () => {
  test('is for one ad after another', () => {
    expect(isOverbooked(watch(20_000), [watch(0), watch(10_000), watch(30_000)])).toBe(false);
  });

  test('is not for two ads that were handed out together and completed after one', () => {
    expect(isOverbooked(watch(0), [watch(0)])).toBe(true);
    expect(isOverbooked(watch(9_000, 19_000, { issuedAtMs: 0 }), [watch(0)])).toBe(false);
  });

  test('is enough for honest ads whose reports come late, in any order', () => {
    const late = [0, 10_000, 20_000].map((fromMs) => watch(fromMs, undefined, { byMs: 3_600_000 }));
    expect(isOverbooked(watch(30_000), late)).toBe(false);
  });

  test('does not grow by what each ad is tolerated', () => {
    const others = [0, 1, 2, 3].map((index) => watch(index * 9_000, undefined, { issuedAtMs: 0 }));
    expect(isOverbooked(watch(36_000, 45_000, { issuedAtMs: 0 }), others)).toBe(true);
  });

  test('is in doubt when two ads seem to be watched at once', () => {
    expect(overlaps(watch(7_000), [watch(0)])).toBe(true);
    expect(overlaps(watch(8_000), [watch(0)])).toBe(false);
    expect(overlaps(watch(50_000), [watch(0, 60_000)])).toBe(true);
  });

  test('is not in doubt when the requests of one ad were slow', () => {
    const slow = watch(8_000, 18_000, { issuedAtMs: 0, offsetMs: 8_000 });
    expect(overlaps(watch(10_500), [slow])).toBe(false);
    expect(overlaps(slow, [watch(10_500)])).toBe(false);
    // It cannot lie before its decision.
    expect(overlaps(watch(10_500), [{ ...slow, issuedAtMs: 8_000 }])).toBe(true);
  });
});

describe('caps at the claim', () => {
  const capped = placement({ frequency_cap: { max: 2, per_s: 100 } });

  test('hold in whatever order completions come', () => {
    expect(exceedsCaps(capped, [10_000, 20_000], 30_000)).toBe(true);
    expect(exceedsCaps(capped, [30_000, 20_000], 10_000)).toBe(true);
    expect(exceedsCaps(capped, [10_000, 30_000], 20_000)).toBe(true);
  });

  test('leave room where no window is full', () => {
    expect(exceedsCaps(capped, [0, 120_000], 60_000)).toBe(false);
    expect(exceedsCaps(capped, [10_000], 20_000)).toBe(false);
  });

  test('keep the cooldown on both sides', () => {
    const cooling = placement({ cooldown_s: 30 });
    expect(exceedsCaps(cooling, [10_000], 39_999)).toBe(true);
    expect(exceedsCaps(cooling, [39_999], 10_000)).toBe(true);
    expect(exceedsCaps(cooling, [10_000], 40_000)).toBe(false);
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
  ])('is %j: %s in the sandbox, %s in live', (userAgent, sandbox, live) => {
    expect(isBot(userAgent, 'sandbox')).toBe(sandbox);
    expect(isBot(userAgent, 'live')).toBe(live);
  });
});
