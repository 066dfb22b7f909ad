import { describe, expect, test } from 'vitest';
import { exceedsCaps } from '../../src/decision/caps.ts';
import { isBot } from '../../src/event/bots.ts';
import { checkTraffic } from '../../src/event/check-traffic.ts';
import type { RecordedEvent } from '../../src/event/recorded-event.ts';
import { isOverbooked, isTooFast, watchOf, type Watch } from '../../src/reward/watch-time.ts';
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
const watch = (fromMs: number, toMs = fromMs + 10_000): Watch => ({
  fromMs,
  toMs,
  requiredMs: 10_000,
});

describe('the time of a watch', () => {
  const of = (start: RecordedEvent | undefined, complete: RecordedEvent, servedAtMs?: number) =>
    watchOf(decision, [...(start ? [start] : []), complete], complete, servedAtMs);

  test('is not shortened by a start whose request was slower, a little', () => {
    const start = event('start', 3_000, { offsetMs: 2_000 });
    expect(of(start, event('complete', 11_000))).toEqual(watch(1_000));
  });

  test('is as short as it was when a page runs at 16 times its speed', () => {
    const complete = event('complete', 31_000, { offsetMs: -9_375 });
    expect(of(event('start', 30_375), complete)).toMatchObject({ fromMs: 30_375, toMs: 31_000 });
  });

  test('is not moved into the next ad by a completion whose request was slow', () => {
    const complete = event('complete', 19_000, { offsetMs: 8_000 });
    expect(of(event('start', 1_000), complete)).toEqual(watch(1_000));
  });

  test('goes by the service when the clock of the device was set meanwhile', () => {
    const start = event('start', 1_000, { offsetMs: 3_600_000 });
    expect(of(start, event('complete', 11_000))).toEqual(watch(1_000));
    expect(of(event('start', 1_000), event('complete', 11_000, { offsetMs: 9_000 }))).toEqual(
      watch(1_000),
    );
  });

  test('begins without a start when the ad was seen, and never before the decision', () => {
    const complete = event('complete', 60_000, { watchedMs: 10_000 });
    expect(of(undefined, complete, 2_000)).toEqual(watch(2_000, 60_000));
    expect(of(undefined, event('complete', 4_000, { watchedMs: 10_000 }))).toEqual(watch(0, 4_000));
  });
});

describe('quartiles', () => {
  const quartiles = (first: number, mid: number, third: number) => [
    event('start', 0),
    event('first_quartile', first),
    event('midpoint', mid),
    event('third_quartile', third),
  ];
  const required = { requiredMs: 10_000, unseen: 0 };

  test('at the speed of the ad are good', () => {
    expect(isTooFast(0, watch(0), quartiles(2_500, 5_000, 7_500))).toBe(false);
    expect(checkTraffic({ ...required, events: quartiles(2_500, 5_000, 7_500) })).toBeUndefined();
  });

  test('faster than the ad can play are impossible, even when the completion waits', () => {
    expect(isTooFast(0, watch(0), quartiles(150, 300, 450))).toBe(true);
  });

  test('in another order than they are played in are no traffic of players', () => {
    expect(checkTraffic({ ...required, events: quartiles(9_000, 5_000, 7_500) })).toBe(
      'impossible_order',
    );
    expect(
      checkTraffic({ ...required, events: [event('complete', 1_000), event('start', 9_000)] }),
    ).toBe('impossible_order');
  });
});

describe('the time of a user', () => {
  test('is for one ad after another', () => {
    expect(isOverbooked(watch(20_000), [watch(0), watch(10_000), watch(30_000)])).toBe(false);
  });

  test('is not for two ads at once', () => {
    expect(isOverbooked(watch(7_000), [watch(0)])).toBe(true);
    expect(isOverbooked(watch(8_000), [watch(0)])).toBe(false);
  });

  test('does not grow by what each ad is tolerated', () => {
    const others = [0, 1, 2, 3].map((index) => watch(index * 8_000));
    expect(isOverbooked(watch(32_000), others)).toBe(true);
  });

  test('is not for another ad in the pause of one', () => {
    expect(isOverbooked(watch(20_000), [watch(0, 60_000)])).toBe(true);
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
  test('is a user who hoards ads', () => {
    const events = [event('start', 0)];
    expect(checkTraffic({ requiredMs: 10_000, events, unseen: 59 })).toBeUndefined();
    expect(checkTraffic({ requiredMs: 10_000, events, unseen: 60 })).toBe('too_many_decisions');
  });

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
