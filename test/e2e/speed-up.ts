import type { Page } from 'playwright';

/** Makes clocks, videos, animation frames and timers of the next page run at `speed` times their normal speed. */
export async function speedUp(page: Page, speed: number): Promise<void> {
  await page.addInitScript(speedUpPlayback, speed);
  await page.addInitScript(speedUpTimers, speed);
}

/**
 * An init script that makes clocks, videos and animation frames run at `speed` times their normal speed. Timers don't, so
 * that no time limit gets shorter.
 */
export function speedUpPlayback(speed: number): void {
  const frame = window.requestAnimationFrame;
  const monotonic = performance.now.bind(performance);
  const wallTime = Date.now;
  const [monotonicOrigin, wallOrigin] = [monotonic(), wallTime()];
  const hasten = (ms: number) => monotonicOrigin + (ms - monotonicOrigin) * speed;
  performance.now = () => hasten(monotonic());
  Date.now = () => wallOrigin + (wallTime() - wallOrigin) * speed;
  window.requestAnimationFrame = (run) => frame(() => run(performance.now()));
  const timeStamp = Object.getOwnPropertyDescriptor(Event.prototype, 'timeStamp');
  Object.defineProperty(Event.prototype, 'timeStamp', {
    get(this: Event) {
      return hasten(timeStamp?.get?.call(this) as number);
    },
  });
  const { play } = HTMLMediaElement.prototype;
  const rate = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'playbackRate');
  // An ad undoes a rate that it notices.
  Object.defineProperty(HTMLMediaElement.prototype, 'playbackRate', { get: () => 1, set() {} });
  HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
    rate?.set?.call(this, speed);
    return play.call(this);
  };
}

/** An init script that makes timers run at `speed` times their normal speed. */
function speedUpTimers(speed: number): void {
  const { setTimeout: timeout, setInterval: interval } = window;
  window.setTimeout = ((run: () => void, ms = 0) =>
    timeout(run, ms / speed)) as typeof window.setTimeout;
  window.setInterval = ((run: () => void, ms = 0) =>
    interval(run, ms / speed)) as typeof window.setInterval;
}

declare global {
  interface Window {
    /** Sets the page's clocks forward, as if the time had passed. See {@link allowSkips}. */
    skip(ms: number): void;
  }
}

/** An init script that adds `window.skip()`. A reload keeps the time. Timers don't notice it. */
export function allowSkips(): void {
  const monotonic = performance.now.bind(performance);
  const wallTime = Date.now;
  let skippedMs = Number(sessionStorage.getItem('skipped'));
  performance.now = () => monotonic() + skippedMs;
  Date.now = () => wallTime() + skippedMs;
  window.skip = (ms) => {
    skippedMs += ms;
    sessionStorage.setItem('skipped', String(skippedMs));
  };
}
