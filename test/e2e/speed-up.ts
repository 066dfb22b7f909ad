/** An init script that makes clocks, timers, animation frames and videos run at `speed` times their normal speed. */
export function speedUp(speed: number): void {
  const { setTimeout: timeout, setInterval: interval, requestAnimationFrame: frame } = window;
  const monotonic = performance.now.bind(performance);
  const wallTime = Date.now;
  const [monotonicOrigin, wallOrigin] = [monotonic(), wallTime()];
  performance.now = () => monotonicOrigin + (monotonic() - monotonicOrigin) * speed;
  Date.now = () => wallOrigin + (wallTime() - wallOrigin) * speed;
  window.setTimeout = ((run: () => void, ms = 0) =>
    timeout(run, ms / speed)) as typeof window.setTimeout;
  window.setInterval = ((run: () => void, ms = 0) =>
    interval(run, ms / speed)) as typeof window.setInterval;
  window.requestAnimationFrame = (run) => frame(() => run(performance.now()));
  const { play } = HTMLMediaElement.prototype;
  const rate = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'playbackRate');
  // An ad undoes a rate that it notices.
  Object.defineProperty(HTMLMediaElement.prototype, 'playbackRate', { get: () => 1, set() {} });
  HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
    rate?.set?.call(this, speed);
    return play.call(this);
  };
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
