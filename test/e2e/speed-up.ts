/** A page's init script. It makes clocks, timers, animation frames and videos run `speed` times as fast. */
export function speedUp(speed: number): void {
  const { setTimeout: timeout, setInterval: interval, requestAnimationFrame: frame } = window;
  const monotonic = performance.now.bind(performance);
  const wall = Date.now;
  const [monotonic0, wall0] = [monotonic(), wall()];
  performance.now = () => monotonic0 + (monotonic() - monotonic0) * speed;
  Date.now = () => wall0 + (wall() - wall0) * speed;
  window.setTimeout = ((run: () => void, ms = 0) =>
    timeout(run, ms / speed)) as typeof window.setTimeout;
  window.setInterval = ((run: () => void, ms = 0) =>
    interval(run, ms / speed)) as typeof window.setInterval;
  window.requestAnimationFrame = (run) => frame(() => run(performance.now()));
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function (this: HTMLMediaElement) {
    this.playbackRate = speed;
    return play.call(this);
  };
}
