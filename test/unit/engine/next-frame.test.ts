import { expect, it } from 'vitest';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { callInNextFrame } from '../../../src/engine/next-frame.ts';

function setUp() {
  const listeners = new Set<() => void>();
  const driver: EngineDriver = {
    hold: () => () => {},
    onFrame(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    focusTarget: () => null,
  };
  return { driver, listeners, frame: () => listeners.forEach((listener) => listener()) };
}

it('calls the callback once, in the next frame, and then stops listening', () => {
  const { driver, frame, listeners } = setUp();
  let calls = 0;
  callInNextFrame(driver, () => (calls += 1));
  expect(calls).toBe(0);
  frame();
  frame();
  expect([calls, listeners.size]).toEqual([1, 0]);
});

it('a canceled callback is not called', () => {
  const { driver, frame, listeners } = setUp();
  let calls = 0;
  callInNextFrame(driver, () => (calls += 1))();
  frame();
  expect([calls, listeners.size]).toEqual([0, 0]);
});

it('calls the callback once even if the driver ignores its removal or calls it immediately', () => {
  let calls = 0;
  let frame = (): void => {};
  const driver: EngineDriver = {
    ...setUp().driver,
    onFrame(callback) {
      frame = callback;
      callback();
      return () => {};
    },
  };
  callInNextFrame(driver, () => (calls += 1));
  frame();
  expect(calls).toBe(1);
});

it('an error in the game is reported and does not reach the engine', async () => {
  const { driver, frame } = setUp();
  const uncaughtError = new Promise((resolve) => {
    const previousListeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => {
      for (const other of previousListeners) process.on('uncaughtException', other);
      resolve(error);
    });
  });
  const gameError = new Error('an error in the game');
  callInNextFrame(driver, () => {
    throw gameError;
  });
  frame();
  expect(await uncaughtError).toBe(gameError);
});
