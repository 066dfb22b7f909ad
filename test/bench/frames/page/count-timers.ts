/** How many timers have been set since the last call to {@link resetTimers}. */
export const timers = { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 };

export function resetTimers(): void {
  Object.assign(timers, { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 });
}

// This runs before any other script, so that every call is counted.
for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame'] as const) {
  const original = window[name].bind(window) as (...values: unknown[]) => number;
  Object.assign(window, {
    [name]: (...values: unknown[]) => {
      timers[name] += 1;
      return original(...values);
    },
  });
}
