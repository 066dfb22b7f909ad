/** Number of timers set since {@link resetTimers}. */
export const timers = { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 };

export function resetTimers(): void {
  Object.assign(timers, { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 });
}

// Runs before any other script, so that calls through early references to the functions are counted too.
for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame'] as const) {
  const original = window[name].bind(window) as (...values: unknown[]) => number;
  Object.assign(window, {
    [name]: (...values: unknown[]) => {
      timers[name] += 1;
      return original(...values);
    },
  });
}
