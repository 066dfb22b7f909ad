const pointerEvents = ['pointerdown', 'pointerup', 'mousedown', 'mouseup'] as const;

/**
 * Keeps what the player does in an ad from the game, because a paused engine goes on handing out
 * input: it hears the pointer on the window, and keys on its canvas. The function that it returns
 * ends this.
 */
export function holdInput(canvas: HTMLCanvasElement | null): () => void {
  const pressedInAd = new Set<string>();

  // On the document, hence after the ad's own listeners and before the engine's on the window.
  function keepFromWindow(event: Event): void {
    if (event.target !== canvas) event.stopPropagation();
  }

  function rememberKey(event: KeyboardEvent): void {
    if (!event.repeat && event.target !== canvas) pressedInAd.add(event.code);
  }

  /** A key that was down when the ad opened is let go in the ad; without this it would stay down. */
  function releaseKey(event: KeyboardEvent): void {
    if (pressedInAd.delete(event.code) || event.target === canvas) return;
    const { code, key } = event;
    canvas?.dispatchEvent(new KeyboardEvent('keyup', { code, key }));
  }

  for (const type of pointerEvents) document.addEventListener(type, keepFromWindow);
  window.addEventListener('keydown', rememberKey, true);
  window.addEventListener('keyup', releaseKey, true);
  return () => {
    for (const type of pointerEvents) document.removeEventListener(type, keepFromWindow);
    window.removeEventListener('keydown', rememberKey, true);
    window.removeEventListener('keyup', releaseKey, true);
  };
}
