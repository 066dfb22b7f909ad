import { expect, it } from 'vitest';
import { noEngine } from '../../../src/engine/no-engine.ts';

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

it('calls back on frames, and not while the game is held', async () => {
  const driver = noEngine();
  let calls = 0;
  const stop = driver.onFrame(() => (calls += 1));
  await frame();
  await frame();
  expect(calls).toBeGreaterThan(0);
  const release = driver.hold();
  const before = calls;
  await frame();
  await frame();
  expect(calls).toBe(before);
  release();
  await frame();
  await frame();
  expect(calls).toBeGreaterThan(before);
  stop();
  const after = calls;
  await frame();
  await frame();
  expect(calls).toBe(after);
});

it('gives the keyboard back to what had it, once', () => {
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

it('gives the keyboard to the canvas where nothing had it, after an iframe that took it is gone', () => {
  const canvas = document.createElement('canvas');
  const ad = document.createElement('iframe');
  document.body.replaceChildren(canvas, ad);
  const release = noEngine(canvas).hold();
  ad.focus();
  ad.remove();
  release();
  expect(document.activeElement).toBe(canvas);
});
