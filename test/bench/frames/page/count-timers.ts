/** How many timers were set since {@link resetTimers} was last called. */
export const timers = { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 };

export function resetTimers(): void {
  Object.assign(timers, { setTimeout: 0, setInterval: 0, requestAnimationFrame: 0 });
}

// This runs before any other script, so that it also counts calls by scripts that keep a reference to the original
// function.
for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame'] as const) {
  const original = window[name].bind(window) as (...values: unknown[]) => number;
  Object.assign(window, {
    [name]: (...values: unknown[]) => {
      timers[name] += 1;
      return original(...values);
    },
  });
}
