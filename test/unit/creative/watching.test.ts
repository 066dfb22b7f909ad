import { describe, expect, it } from 'vitest';
import type { MediaFile } from '../../../protocol/wire.ts';
import { chooseFile } from '../../../src/creative/screen.ts';
import { createStallWatchdog } from '../../../src/ad-break/stage.ts';
import { createWatchedTime } from '../../../src/creative/video.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** Creates a clock whose time can jump. Timers that become due fire after the jump, as on a frozen page. */
function createJumpingClock() {
  const clock = createManualClock();
  const pass = (ms: number): Promise<void> => {
    clock.freeze(ms);
    return clock.advance(0);
  };
  return { clock, pass };
}

describe('watch time', () => {
  function watch() {
    const { clock, pass } = createJumpingClock();
    const watchedTime = createWatchedTime(clock);
    let media = 0;
    return {
      watchedTime,
      async play(ms: number, speed = 1, counts = true) {
        await pass(ms);
        media += ms * speed;
        watchedTime.moveTo(media, counts);
      },
      jump(ms: number) {
        media += ms;
        watchedTime.moveTo(media, true);
      },
    };
  }

  it('counts playback time', async () => {
    const { play, watchedTime } = watch();
    for (let step = 0; step < 12; step += 1) await play(250);
    expect(watchedTime.ms).toBe(3000);
  });

  it('seeking forward does not add watch time', async () => {
    const { jump, play, watchedTime } = watch();
    await play(250);
    jump(10_000);
    await play(250);
    expect(watchedTime.ms).toBe(500);
  });

  it('seeking forward after a stall does not add watch time', async () => {
    const { jump, play, watchedTime } = watch();
    await play(5000, 0);
    jump(5000);
    expect(watchedTime.ms).toBeLessThan(100);
    await play(1000);
    expect(watchedTime.ms).toBeLessThan(1100);
  });

  it('counts real time when playback is sped up', async () => {
    const { play, watchedTime } = watch();
    for (let step = 0; step < 8; step += 1) await play(250, 4);
    expect(watchedTime.ms).toBe(2000);
  });

  it('does not count time while the ad is not visible', async () => {
    const { play, watchedTime } = watch();
    await play(1000);
    await play(5000, 1, false);
    await play(1000);
    expect(watchedTime.ms).toBe(2000);
  });
});

describe('the stall watchdog', () => {
  it('fires once after a period without progress', async () => {
    const { clock, pass } = createJumpingClock();
    let stalls = 0;
    const watchdog = createStallWatchdog(clock, 8000, () => (stalls += 1));
    watchdog.reset();
    await pass(7999);
    watchdog.reset();
    await pass(7999);
    expect(stalls).toBe(0);
    await pass(1);
    expect([stalls, clock.timers()]).toEqual([1, 0]);
  });

  it('does not fire while stopped', async () => {
    const { clock, pass } = createJumpingClock();
    const watchdog = createStallWatchdog(clock, 8000, () => expect.unreachable());
    watchdog.reset();
    watchdog.stop();
    await pass(8000);
    expect(clock.timers()).toBe(0);
  });

  it('does not count device sleep as a stall', async () => {
    const { clock, pass } = createJumpingClock();
    let stalls = 0;
    createStallWatchdog(clock, 8000, () => (stalls += 1)).reset();
    await pass(3_600_000);
    expect(stalls).toBe(0);
    await pass(8000);
    expect(stalls).toBe(1);
  });
});

describe('the chosen media file', () => {
  const file = (width: number, mime: string): MediaFile => ({
    url: `https://media.test/${width}`,
    mime,
    width,
    height: (width * 9) / 16,
  });
  const files = [file(1920, 'video/mp4'), file(640, 'video/mp4'), file(1280, 'video/webm')];

  it('is the smallest file that fills the screen', () => {
    expect(chooseFile(files, 800, () => true)?.width).toBe(1280);
    expect(chooseFile(files, 360, () => true)?.width).toBe(640);
  });

  it('is the largest file if no file fills the screen', () => {
    expect(chooseFile(files, 3840, () => true)?.width).toBe(1920);
  });

  it('is a file that the browser can play', () => {
    expect(chooseFile(files, 800, (mime) => mime === 'video/mp4')?.width).toBe(1920);
    expect(chooseFile(files, 800, () => false)).toBeUndefined();
  });
});
