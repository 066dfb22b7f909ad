import { describe, expect, it } from 'vitest';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { createFrameQueue } from '../../../src/engine/frame-queue.ts';

function setUp() {
  const listeners = new Set<() => void>();
  let nowMs = 0;
  const driver: EngineDriver = {
    hold: () => () => {},
    onFrame(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    focusTarget: () => null,
  };
  return {
    driver,
    clock: { monotonic: () => nowMs },
    listeners,
    frame: () => listeners.forEach((listener) => listener()),
    spend: (ms: number) => (nowMs += ms),
  };
}

describe('the frame queue', () => {
  it('listens for frames only while callbacks are queued', () => {
    const { clock, driver, frame, listeners } = setUp();
    const queue = createFrameQueue(driver, clock);
    expect(listeners.size).toBe(0);
    queue.push(() => {});
    queue.push(() => {});
    expect(listeners.size).toBe(1);
    frame();
    expect(listeners.size).toBe(0);
  });

  it('runs callbacks in order, up to the limit per frame', () => {
    const { clock, driver, frame } = setUp();
    const queue = createFrameQueue(driver, clock);
    const numbers: number[] = [];
    for (let number = 1; number <= 9; number += 1) queue.push(() => numbers.push(number));
    frame();
    expect(numbers).toEqual([1, 2, 3, 4]);
    frame();
    frame();
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('starts no callback after the frame’s time budget is used up', () => {
    const { clock, driver, frame, spend } = setUp();
    const queue = createFrameQueue(driver, clock);
    let calls = 0;
    for (let count = 0; count < 3; count += 1) {
      queue.push(() => {
        calls += 1;
        spend(1.5);
      });
    }
    frame();
    expect(calls).toBe(2);
    frame();
    expect(calls).toBe(3);
  });

  it('reports a callback’s error and runs the next callback', async () => {
    const { clock, driver, frame } = setUp();
    const queue = createFrameQueue(driver, clock);
    const uncaughtError = new Promise((resolve) => {
      const previousListeners = process.listeners('uncaughtException');
      process.removeAllListeners('uncaughtException');
      process.once('uncaughtException', (error) => {
        for (const other of previousListeners) process.on('uncaughtException', other);
        resolve(error);
      });
    });
    const gameError = new Error('an error in the game');
    let nextRan = false;
    queue.push(() => {
      throw gameError;
    });
    queue.push(() => (nextRan = true));
    frame();
    expect(nextRan).toBe(true);
    expect(await uncaughtError).toBe(gameError);
  });

  it('runs callbacks beyond the limit on the next frame', () => {
    const { clock, driver, frame, listeners } = setUp();
    const queue = createFrameQueue(driver, clock);
    let calls = 0;
    for (let count = 0; count < 3; count += 1) queue.push(() => {});
    queue.push(() => queue.push(() => (calls += 1)));
    frame();
    expect([calls, listeners.size]).toEqual([0, 1]);
    frame();
    expect([calls, listeners.size]).toEqual([1, 0]);
  });

  it('destroy() removes the callbacks and the listener', () => {
    const { clock, driver, frame, listeners } = setUp();
    const queue = createFrameQueue(driver, clock);
    let calls = 0;
    queue.push(() => (calls += 1));
    queue.destroy();
    frame();
    expect([calls, listeners.size]).toEqual([0, 0]);
  });
});
