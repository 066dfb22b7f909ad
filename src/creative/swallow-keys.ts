const keyEvents = ['keydown', 'keypress', 'keyup'] as const;

/**
 * Keeps keys from the game while an ad is open: engines listen on `window`, which hears the keys of a
 * modal dialog too. The default actions still happen, so that the overlay's buttons work. A key that
 * was down before may still come up, or the game would believe it held.
 */
export function swallowKeys(): () => void {
  const down = new Set<string>();
  const swallow = (event: KeyboardEvent) => {
    if (event.type === 'keydown') down.add(event.code);
    else if (event.type === 'keyup' && !down.delete(event.code)) return;
    event.stopImmediatePropagation();
  };
  for (const type of keyEvents) window.addEventListener(type, swallow, true);
  return () => {
    for (const type of keyEvents) window.removeEventListener(type, swallow, true);
  };
}
