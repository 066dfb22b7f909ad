import { expect, it } from 'vitest';
import { offerText, outcomeText } from '../../../demo/src/outcome-text.ts';

it('shows how many seconds, minutes or hours remain until the next ad', () => {
  const text = (ms: number) => outcomeText({ outcome: 'cooldown', retryAt: new Date(ms) }, 0);
  expect(text(29_001)).toBe('The next ad is not ready yet. Try again in 30 s.');
  expect(text(-5)).toContain('Try again in 1 s.');
  expect(text(600_000)).toContain('Try again in 10 min.');
  expect(text(3 * 3_600_000)).toContain('Try again in 3 h.');
});

it('shows why there is no ad to offer', () => {
  expect(offerText({ available: true }, 0)).toBe('Watch a short ad');
  const reward = { type: 'coins', amount: 50 };
  expect(offerText({ available: true, reward }, 0)).toBe('Watch a short ad for 50 coins');
  expect(offerText({ available: false, outcome: 'offline' }, 0)).toBe('You are offline.');
  expect(offerText({ available: false }, 0)).toBe('There is no ad right now.');
});
