import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { page } from 'vitest/browser';
import { watchViewability, type Visibility } from '../../../src/creative/viewability.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/eventually.ts';

const requiredMs = 400;
let ad: HTMLElement;
let seen: { (visibility: Visibility): void; mock: { calls: [Visibility][] } };
let end: () => void = () => {};

function put(css: string): HTMLElement {
  const element = document.createElement('div');
  element.style.cssText = `position: fixed; width: 200px; height: 100px; ${css}`;
  document.body.append(element);
  return element;
}

function watch() {
  const watched = watchViewability(ad, { clock: systemClock, requiredMs, onViewable: seen });
  end = watched.destroy;
  return watched;
}

/** Longer than an ad would need to count. */
const longEnough = () => new Promise((resolve) => setTimeout(resolve, requiredMs * 2));

beforeEach(async () => {
  await page.viewport(640, 360);
  document.body.replaceChildren();
  seen = vi.fn<(visibility: Visibility) => void>();
  ad = put('left: 0; top: 0');
});
afterEach(() => {
  vi.restoreAllMocks();
  end();
});

it('counts an ad that nothing hides, once', async () => {
  watch();
  await eventually(() => expect(seen).toHaveBeenCalled());
  expect(seen.mock.calls[0]?.[0].ratio).toBe(1);
  expect(seen.mock.calls[0]?.[0].ms).toBeGreaterThanOrEqual(requiredMs);
  await longEnough();
  expect(seen).toHaveBeenCalledTimes(1);
});

it.each([
  ['lies under something', () => put('left: 0; top: 0; background: red')],
  ['lies under something for the most part', () => put('left: 0; top: 0; height: 70px')],
])('does not count an ad that %s, and counts it when that goes', async (_, cover) => {
  const covering = cover();
  watch();
  await longEnough();
  expect(seen).not.toHaveBeenCalled();
  covering.remove();
  await eventually(() => expect(seen).toHaveBeenCalled());
});

it.each([
  ['is off the screen', 'left: -300px'],
  ['is off the screen for the most part', 'left: -120px'],
])('does not count an ad that %s, and counts it when it comes back', async (_, css) => {
  ad.style.cssText += css;
  watch();
  await longEnough();
  expect(seen).not.toHaveBeenCalled();
  ad.style.left = '0';
  await eventually(() => expect(seen).toHaveBeenCalled());
});

it('counts an ad of which half is on the screen', async () => {
  ad.style.left = '-90px';
  watch();
  await eventually(() => expect(seen).toHaveBeenCalled());
  expect(seen.mock.calls[0]?.[0].ratio).toBeCloseTo(0.55, 1);
});

it('begins again when the page was hidden or the video stood still', async () => {
  const watched = watch();
  watched.setPlaying(false);
  await longEnough();
  expect(seen).not.toHaveBeenCalled();
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
  watched.setPlaying(true);
  await longEnough();
  expect(seen).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  const shownAt = performance.now();
  document.dispatchEvent(new Event('visibilitychange'));
  await eventually(() => expect(seen).toHaveBeenCalled());
  expect(performance.now() - shownAt).toBeGreaterThanOrEqual(requiredMs - 5);
});
