import { onTestFinished } from 'vitest';
import { server } from 'vitest/browser';
import { onVisibilityChange } from '../../../src/platform/front-door.ts';
import type { ManualClock } from '../../support/manual-clock.ts';

/** The accelerated playback rate for each browser. WebKitGTK can pause a video only if its playback rate is 1. */
const playbackRates: Record<string, number> = { chromium: 8, firefox: 2, webkit: 1 };

// Saved early, because tests that count frames replace `window.requestAnimationFrame`.
const requestFrame = window.requestAnimationFrame.bind(window);
const nextFrame = (): Promise<unknown> => new Promise((resolve) => requestFrame(resolve));

const rate = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'playbackRate');
const readRate = (video: HTMLVideoElement): number => rate?.get?.call(video) as number;
/** Changes a video's rate. The ad doesn't see it, because it would undo it. */
export function changeRate(video: HTMLVideoElement, value: number): void {
  Object.defineProperty(video, 'playbackRate', { configurable: true, get: () => 1, set() {} });
  rate?.set?.call(video, value);
}

/**
 * Advances a clock. While a video plays, the clock follows its playback time. Otherwise, the clock jumps from timer to
 * timer. Tests therefore never time out because the machine is slow, and never wait for a timer. Call `start` only once
 * the ad is on the screen: while the ad loads, the next timer is the load timeout.
 *
 * With `fastVideo`, videos play fast between `start` and `stop`. At other times they play at normal speed, so that a
 * test can act before the video ends.
 */
export function passTime(
  clock: ManualClock,
  { fastVideo = false } = {},
): { start(): void; stop(): void } {
  const fastRate = fastVideo ? (playbackRates[server.browser] ?? 1) : 1;
  const endedVideos = new WeakSet<EventTarget>();
  const playedMs = new WeakMap<HTMLVideoElement, number>();
  let run: symbol | undefined;

  const isAdvancing = (video: HTMLVideoElement): boolean =>
    !video.paused && !endedVideos.has(video) && readRate(video) > 0;

  function follow(video: HTMLVideoElement): void {
    const mediaMs = video.currentTime * 1_000;
    clock.freeze(Math.max(0, mediaMs - (playedMs.get(video) ?? 0)));
    playedMs.set(video, mediaMs);
  }

  // Whoever compares a video's position with the time finds both in step.
  const { monotonic } = clock;
  clock.monotonic = () => {
    document.querySelectorAll('video').forEach(follow);
    return monotonic();
  };

  /** Changes the playback rate of all videos, except those whose rate was set by the test. */
  function changeRates(from: number, to: number): void {
    for (const video of document.querySelectorAll('video'))
      if (from !== to && readRate(video) === from) changeRate(video, to);
  }

  // The clock must be synchronized with the video before any other handler for the event runs.
  function listener({ target, type }: Event): void {
    if (!(target instanceof HTMLVideoElement)) return;
    follow(target);
    if (type === 'ended') endedVideos.add(target);
  }

  async function pass(ownRun: symbol): Promise<void> {
    while (run === ownRun) {
      const video = document.querySelector('video');
      if (video !== null && isAdvancing(video)) {
        changeRates(1, fastRate);
        await nextFrame();
        if (run !== ownRun) return;
        follow(video);
        await clock.advance(0);
      } else if (!(await clock.runNextTimer())) await nextFrame();
    }
  }

  const stop = (): void => {
    run = undefined;
    changeRates(fastRate, 1);
  };
  const types = ['timeupdate', 'ended'];
  for (const type of types) document.addEventListener(type, listener, true);
  const stopVisibility = onVisibilityChange(() =>
    document.querySelectorAll('video').forEach(follow),
  );
  onTestFinished(() => {
    stop();
    for (const type of types) document.removeEventListener(type, listener, true);
    stopVisibility();
  });
  return {
    start() {
      if (run === undefined) void pass((run = Symbol('run')));
    },
    stop,
  };
}
