/**
 * Remembers what has the keyboard. The function that it returns gives it back, or to `fallback` where
 * nothing had it: a browser sends no focus event when a focused iframe is removed, so a game would
 * stay deaf and, in Phaser, mute until the next click.
 */
export function rememberFocus(fallback: () => HTMLElement | null): () => void {
  const before = document.activeElement;
  return () => {
    const had = before instanceof HTMLElement && before !== document.body && before.isConnected;
    const target = had ? before : fallback();
    if (target === null) return;
    if (!had && !target.hasAttribute('tabindex')) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };
}
