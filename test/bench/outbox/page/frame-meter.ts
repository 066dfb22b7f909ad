/** Frame times during a measurement, in milliseconds. */
export interface FrameTimes {
  frames: number;
  p50: number;
  p99: number;
  longest: number;
  longTasks: number;
  longestTask: number;
}

interface LongTask {
  start: number;
  duration: number;
}

// Saves a reference to the original function, before a contender or `countWakeUps()` wraps it.
const nextFrame = window.requestAnimationFrame.bind(window);

const longTasks: LongTask[] = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    longTasks.push({ start: startTime, duration });
}).observe({ type: 'longtask' });

/** Busy-waits on the main thread to simulate a game's updates and rendering. */
const burnCpu = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

const readPercentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;

/** Measures frames with `busyMs` of game work each, until the returned function is called. */
export function meterFrames(busyMs: number): () => FrameTimes {
  const startedAt = performance.now();
  const times: number[] = [];
  let previous: number | undefined;
  let isRunning = true;
  const onFrame = (timestamp: number): void => {
    if (!isRunning) return;
    if (previous !== undefined) times.push(timestamp - previous);
    previous = timestamp;
    burnCpu(busyMs);
    nextFrame(onFrame);
  };
  nextFrame(onFrame);
  return () => {
    isRunning = false;
    const sorted = times.sort((a, b) => a - b);
    const recentTasks = longTasks.filter(({ start, duration }) => start + duration >= startedAt);
    return {
      frames: sorted.length,
      p50: readPercentile(sorted, 0.5),
      p99: readPercentile(sorted, 0.99),
      longest: sorted.at(-1) ?? 0,
      longTasks: recentTasks.length,
      longestTask: Math.max(0, ...recentTasks.map(({ duration }) => duration)),
    };
  };
}
