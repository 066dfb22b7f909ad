import { describe, expect, it } from 'vitest';
import { defaultLabel, lookAgainMs, restingView } from '../../../src/phaser/button-view.ts';

const now = 1_000_000;
const until = (ms: number) => ({ available: false, retryAt: new Date(now + ms) });

describe('a button at rest', () => {
  it('is ready when there is an ad, and need not look again', () => {
    expect(restingView({ available: true }, now)).toEqual({ state: 'ready', secondsLeft: 0 });
    expect(lookAgainMs({ available: true }, now)).toBeUndefined();
  });

  it.each([
    [1, 1, 1],
    [999, 1, 999],
    [1000, 1, 1000],
    [1001, 2, 1],
    [65_400, 66, 400],
  ])('%d ms before the next ad says %d s, and looks again after %d ms', (ms, seconds, again) => {
    expect(restingView(until(ms), now)).toEqual({ state: 'cooldown', secondsLeft: seconds });
    expect(lookAgainMs(until(ms), now)).toBe(again);
  });

  it('asks again after half a minute when nobody said when, or the time is over', () => {
    for (const availability of [{ available: false }, until(0), until(-5000)]) {
      expect(restingView(availability, now).state).toBe('unavailable');
      expect(lookAgainMs(availability, now)).toBe(30_000);
    }
  });

  it('never asks again for a placement that does not exist', () => {
    const availability = { available: false, reason: 'invalid_placement' as const };
    expect(lookAgainMs(availability, now)).toBeUndefined();
  });

  it('writes minutes and seconds', () => {
    expect(defaultLabel({ state: 'cooldown', secondsLeft: 65 })).toBe('Next ad in 1:05');
  });
});
