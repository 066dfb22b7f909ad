import { describe, expect, it } from 'vitest';
import type { MediaFile } from '../../../protocol/wire.ts';
import { chooseFile } from '../../../src/creative/choose-file.ts';
import { createStallWatchdog } from '../../../src/creative/stall-watchdog.ts';
import { createWatchedTime } from '../../../src/creative/watched-time.ts';
import type { Clock } from '../../../src/platform/clock.ts';

function handClock() {
  let nowMs = 0;
  let timers: { at: number; callback: () => void }[] = [];
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    after(ms, callback) {
      const timer = { at: nowMs + ms, callback };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
  };
  return {
    clock,
    /** Time jumps; timers that are due fire afterwards, as they do when a device wakes up. */
    pass(ms: number) {
      nowMs += ms;
      const due = timers.filter((timer) => timer.at <= nowMs);
      timers = timers.filter((timer) => timer.at > nowMs);
      for (const { callback } of due) callback();
    },
    timers: () => timers.length,
  };
}

describe('watched time', () => {
  function watch() {
    const { clock, pass } = handClock();
    const watched = createWatchedTime(clock);
    let media = 0;
    return {
      watched,
      play(ms: number, speed = 1, counts = true) {
        pass(ms);
        media += ms * speed;
        watched.moveTo(media, counts);
      },
      jump(ms: number) {
        media += ms;
        watched.moveTo(media, true);
      },
    };
  }

  it('counts what played', () => {
    const { play, watched } = watch();
    for (let step = 0; step < 12; step += 1) play(250);
    expect(watched.ms).toBe(3000);
  });

  it('gives nothing for a jump forward', () => {
    const { jump, play, watched } = watch();
    play(250);
    jump(10_000);
    play(250);
    expect(watched.ms).toBe(500);
  });

  it('gives nothing for a jump after standing still', () => {
    const { jump, play, watched } = watch();
    play(5000, 0);
    jump(5000);
    expect(watched.ms).toBeLessThan(100);
    play(1000);
    expect(watched.ms).toBeLessThan(1100);
  });

  it('counts real time at a raised speed', () => {
    const { play, watched } = watch();
    for (let step = 0; step < 8; step += 1) play(250, 4);
    expect(watched.ms).toBe(2000);
  });

  it('counts nothing that nobody could see', () => {
    const { play, watched } = watch();
    play(1000);
    play(5000, 1, false);
    play(1000);
    expect(watched.ms).toBe(2000);
  });
});

describe('the stall watchdog', () => {
  it('barks once after the limit without movement', () => {
    const { clock, pass, timers } = handClock();
    let barks = 0;
    const watchdog = createStallWatchdog(clock, 8000, () => (barks += 1));
    watchdog.reset();
    pass(7999);
    watchdog.reset();
    pass(7999);
    expect(barks).toBe(0);
    pass(1);
    expect([barks, timers()]).toEqual([1, 0]);
  });

  it('is silent while it is stopped', () => {
    const { clock, pass, timers } = handClock();
    const watchdog = createStallWatchdog(clock, 8000, () => expect.unreachable());
    watchdog.reset();
    watchdog.stop();
    pass(8000);
    expect(timers()).toBe(0);
  });

  it('does not take the sleep of the device for a stall, but what comes after it', () => {
    const { clock, pass } = handClock();
    let barks = 0;
    createStallWatchdog(clock, 8000, () => (barks += 1)).reset();
    pass(3_600_000);
    expect(barks).toBe(0);
    pass(8000);
    expect(barks).toBe(1);
  });
});

describe('the choice of a file', () => {
  const file = (width: number, mime: string): MediaFile => ({
    url: `https://media.test/${width}`,
    mime,
    width,
    height: (width * 9) / 16,
  });
  const files = [file(1920, 'video/mp4'), file(640, 'video/mp4'), file(1280, 'video/webm')];

  it('is the smallest that fills the screen', () => {
    expect(chooseFile(files, 800, () => true)?.width).toBe(1280);
    expect(chooseFile(files, 360, () => true)?.width).toBe(640);
  });

  it('is the largest where none fills the screen', () => {
    expect(chooseFile(files, 3840, () => true)?.width).toBe(1920);
  });

  it('takes only what the browser plays', () => {
    expect(chooseFile(files, 800, (mime) => mime === 'video/mp4')?.width).toBe(1920);
    expect(chooseFile(files, 800, () => false)).toBeUndefined();
  });
});
