/**
 * Moves the clocks that engines read, as a long ad does: `performance.now()`, `Date.now()` and the timestamps of animation
 * frames. Load it before the engines. The SDK is not affected, because it keeps the functions that it found at load.
 */
let skewMs = 0;

const monotonic = performance.now.bind(performance);
const wall = Date.now.bind(Date);
const requestFrame = requestAnimationFrame.bind(window);

performance.now = () => monotonic() + skewMs;
Date.now = () => wall() + skewMs;
window.requestAnimationFrame = (callback) => requestFrame((time) => callback(time + skewMs));

/**
 * Measures the time since the browser's last frame, and how long that one took, until it is stopped. A frame begins at its
 * timestamp, which a busy page handles later. Engines measure from one or the other, so the longer one counts.
 */
export function meterFrames(): {
  sinceFrameMs(): number;
  lastFrameMs(): number;
  stop(): void;
} {
  let last = { begunMs: monotonic(), handledMs: monotonic() };
  let durationMs = 0;
  let isStopped = false;
  requestFrame(function next(begunMs) {
    const frame = { begunMs, handledMs: monotonic() };
    durationMs = Math.max(begunMs - last.begunMs, frame.handledMs - last.handledMs);
    last = frame;
    if (!isStopped) requestFrame(next);
  });
  return {
    sinceFrameMs: () => monotonic() - last.begunMs,
    lastFrameMs: () => durationMs,
    stop: () => (isStopped = true),
  };
}

/** Lets this much time pass at once. The clocks never go back. */
export function skipTime(ms: number): void {
  skewMs += ms;
}
