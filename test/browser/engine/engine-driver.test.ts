import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { click } from './real-input.ts';
import { createEngineDriver, type EngineParts } from '../../../src/engine/create-engine-driver.ts';
import { holdAudio } from '../../../src/engine/held-audio.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import { native } from '../../../src/platform/native.ts';
import { eventually } from '../../support/eventually.ts';

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
  const hidden = vi.spyOn(native, 'isHidden').mockReturnValue(false);
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
  const ad = document.createElement('button');
  document.body.replaceChildren(canvas, field, ad);
  field.focus();
  const release = noEngine(canvas).hold();
  ad.focus();
  ad.remove();
  release();
  expect(document.activeElement).toBe(field);
  field.blur();
  release();
  expect(document.activeElement).toBe(document.body);
});

it('an element that an ad SDK focuses in the page doesn’t have the focus after the ad', () => {
  const [canvas, ad] = [document.createElement('canvas'), document.createElement('button')];
  canvas.tabIndex = 0;
  document.body.replaceChildren(canvas, ad);
  canvas.focus();
  const release = noEngine(canvas).hold();
  ad.focus();
  release();
  expect(document.activeElement).toBe(canvas);
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
  // A ring around the whole game would tell the player nothing.
  expect(getComputedStyle(canvas).outlineStyle).toBe('none');
});

it('shows no focus ring around the canvas of a game that is played by keyboard', async () => {
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  const ad = document.createElement('button');
  document.body.replaceChildren(canvas, ad);
  await userEvent.keyboard('a');
  const release = noEngine(canvas).hold();
  // Firefox shows no ring after a key that moved nothing.
  const options: FocusOptions & { focusVisible: boolean } = { focusVisible: true };
  ad.focus(options);
  expect(ad.matches(':focus-visible')).toBe(true);
  ad.remove();
  release();
  expect(canvas.matches(':focus')).toBe(true);
  expect(canvas.matches(':focus-visible')).toBe(false);
});

describe('a driver made of parts', () => {
  const parts = { canvas: () => null, onFrame: () => () => {} };

  it('pauses the game once for ads that overlap, and resumes it after the last', () => {
    const log: string[] = [];
    const driver = createEngineDriver({
      ...parts,
      pause() {
        log.push('pause');
        return () => log.push('resume');
      },
    });
    const first = driver.hold();
    const second = driver.hold();
    first();
    first();
    expect([log, driver.isHeld]).toEqual([['pause'], true]);
    second();
    expect([log, driver.isHeld]).toEqual([['pause', 'resume'], false]);
  });

  it('tells a time that stands still during ads and never goes back', () => {
    let nowMs = 1_000;
    vi.spyOn(native, 'monotonic').mockImplementation(() => nowMs);
    const driver = createEngineDriver(parts);
    const release = driver.hold();
    nowMs += 30_000;
    expect(driver.now()).toBe(1_000);
    release();
    expect(driver.now()).toBe(1_000);
    nowMs += 16;
    const releaseAgain = driver.hold();
    nowMs += 200;
    releaseAgain();
    nowMs += 16;
    expect(driver.now()).toBe(1_032);
  });

  it('postpones what the game asks of its engine, and calls no frame during an ad', () => {
    const engine = { running: true, start: () => {}, stop: () => {} };
    engine.start = () => (engine.running = true);
    engine.stop = () => (engine.running = false);
    let frame = (): void => {};
    const driver = createEngineDriver({
      ...parts,
      onFrame(callback) {
        frame = callback;
        return () => {};
      },
      pause(postpone) {
        engine.stop();
        postpone(engine, ['start', 'stop']);
        return () => engine.start();
      },
    });
    const callback = vi.fn();
    driver.onFrame(callback);
    const release = driver.hold();
    engine.start();
    engine.stop();
    frame();
    expect([engine.running, callback.mock.calls.length]).toEqual([false, 0]);
    release();
    frame();
    expect([engine.running, callback.mock.calls.length]).toEqual([false, 1]);
  });

  it('restores everything else if the engine fails to pause or to resume', () => {
    const canvas = document.createElement('canvas');
    document.body.replaceChildren(canvas);
    const errors: string[] = [];
    vi.spyOn(native, 'queueMicrotask').mockImplementation((report) => {
      try {
        report();
      } catch (error) {
        errors.push(String(error));
      }
    });
    for (const fails of ['pause', 'resume', 'audio']) {
      const fail = (name: string) => {
        if (name === fails) throw new Error(name);
      };
      const release = createEngineDriver({
        ...parts,
        canvas: () => canvas,
        audio: () => (fail('audio'), []),
        pause() {
          fail('pause');
          return () => fail('resume');
        },
      }).hold();
      release();
      expect(document.activeElement).toBe(canvas);
      canvas.blur();
    }
    expect(errors).toEqual(['Error: pause', 'Error: resume', 'Error: audio']);
  });

  it.each<[name: string, audio?: EngineParts['audio']]>([
    ['that has none'],
    ['that is gone', () => null],
    ['that doesn’t exist yet', () => [undefined, null]],
    ['of which nothing is left', () => []],
  ])('pauses and resumes a game with audio %s', (_, audio) => {
    vi.stubGlobal('HTMLMediaElement', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    const report = vi.spyOn(native, 'queueMicrotask');
    const log: string[] = [];
    const driver = createEngineDriver({
      ...parts,
      ...(audio === undefined ? {} : { audio }),
      pause() {
        log.push('pause');
        return () => log.push('resume');
      },
    });
    driver.hold()();
    noEngine().hold()();
    expect(log).toEqual(['pause', 'resume']);
    expect(report).not.toHaveBeenCalled();
  });
});

describe('a held audio context', () => {
  // A page may play sound only after a user gesture.
  beforeAll(() => click(document.body));

  it('stays silent whatever resumes it, and does afterward what the game asked of it', async () => {
    const context = new AudioContext();
    await context.resume();
    const release = holdAudio(context);
    await eventually(() => expect(context.state).toBe('suspended'));
    await context.resume();
    expect(context.state).toBe('suspended');
    await AudioContext.prototype.resume.call(context);
    await eventually(() => expect(context.state).toBe('suspended'));
    release();
    release();
    await eventually(() => expect(context.state).toBe('running'));
    const releaseAgain = holdAudio(context);
    await context.suspend();
    releaseAgain();
    await eventually(() => expect(context.state).toBe('suspended'));
    await context.close();
    holdAudio(context)();
  });
});
