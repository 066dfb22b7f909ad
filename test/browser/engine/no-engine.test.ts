import { expect, it, vi } from 'vitest';
import { noEngine } from '../../../src/engine/no-engine.ts';
import { native } from '../../../src/platform/native.ts';

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

it('calls back on each frame unless the game is paused for an ad', async () => {
  const driver = noEngine();
  let calls = 0;
  const stop = driver.onFrame(() => (calls += 1));
  await frame();
  await frame();
  expect(calls).toBeGreaterThan(0);
  const release = driver.hold();
  const callsBefore = calls;
  await frame();
  await frame();
  expect(calls).toBe(callsBefore);
  release();
  await frame();
  await frame();
  expect(calls).toBeGreaterThan(callsBefore);
  stop();
  const callsAfter = calls;
  await frame();
  await frame();
  expect(calls).toBe(callsAfter);
});

it('falls back to a timer if the page renders no frames', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  vi.spyOn(native, 'setInterval').mockImplementation(setInterval);
  vi.spyOn(native, 'clearInterval').mockImplementation(clearInterval);
  vi.spyOn(native, 'requestAnimationFrame').mockReturnValue(0);
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(false);
  const driver = noEngine();
  const callback = vi.fn();
  const stop = driver.onFrame(callback);
  vi.advanceTimersByTime(1_000);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(callback).toHaveBeenCalledTimes(1);
  const release = driver.hold();
  vi.advanceTimersByTime(10_000);
  release();
  hidden.mockReturnValue(true);
  vi.advanceTimersByTime(10_000);
  // A page that has just become visible gets one check interval to render a frame.
  hidden.mockReturnValue(false);
  vi.advanceTimersByTime(1_000);
  expect(callback).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(callback).toHaveBeenCalledTimes(2);
  stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

it('restores focus to the previously focused element, once', () => {
  const canvas = document.createElement('canvas');
  const field = document.createElement('input');
  document.body.replaceChildren(canvas, field);
  field.focus();
  const release = noEngine(canvas).hold();
  field.blur();
  release();
  expect(document.activeElement).toBe(field);
  field.blur();
  release();
  expect(document.activeElement).toBe(document.body);
});

it('focuses the canvas if no element had focus before the ad', () => {
  const canvas = document.createElement('canvas');
  const ad = document.createElement('iframe');
  document.body.replaceChildren(canvas, ad);
  const release = noEngine(canvas).hold();
  ad.focus();
  ad.remove();
  release();
  expect(document.activeElement).toBe(canvas);
});
