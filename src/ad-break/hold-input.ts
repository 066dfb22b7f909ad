const keyEvents = ['keydown', 'keypress', 'keyup'] as const;
const pressEvents = ['click', 'dblclick', 'contextmenu', 'wheel'].concat(
  ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'],
  ['mousedown', 'mousemove', 'mouseup'],
  ['touchstart', 'touchmove', 'touchend', 'touchcancel'],
);

/**
 * Withholds all input from the game while an ad is open: a paused engine still listens on `window`, which also receives
 * the events of a modal dialog. The ad's own controls, default actions, and listeners on `body` (where Phaser unlocks
 * audio) work as usual.
 *
 * Keys and pointers that were down when the ad opened belong to the game. If one is released during the ad, the game
 * receives the release after the ad (pointers: `release-presses.ts`); if it is still down then, the game receives the
 * real release. A key that was pressed during the ad never reaches the game, even if it is released after the ad has
 * closed.
 *
 * @param ad - The element that contains the ad.
 * @param canvas - The element on which the game listens. Default: `body`.
 * @returns A function that returns input to the game; call it once the game is running again.
 */
export function holdInput(ad: HTMLElement, canvas: HTMLElement | null): () => void {
  const keysInAd = new Set<string>();
  const pressesInAd = new Set<unknown>();
  const missedKeys: KeyboardEvent[] = [];
  const missedPresses: Event[] = [];
  const hold = new AbortController();
  const { signal } = hold;

  function holdBack(event: Event): void {
    event.stopImmediatePropagation();
  }

  function onKey(event: KeyboardEvent): void {
    const { code, repeat, type } = event;
    // A key that was already down when the ad opened keeps repeating.
    if (type === 'keydown' && !repeat) keysInAd.add(code);
    if (type === 'keyup' && !keysInAd.delete(code)) missedKeys.push(event);
    holdBack(event);
  }

  function onPress(event: Event): void {
    const { type } = event;
    const press = identifyPress(event);
    if (/down$|start$/.test(type)) {
      pressesInAd.add(press);
    } else if (pressesInAd.has(press)) {
      return;
    } else if (/up$|end$|cancel$/.test(type)) {
      missedPresses.push(event);
      // Most ads never need this code. Loading it now makes it available when the ad ends; a failed load is retried
      // then.
      loadReleasePresses().catch(() => undefined);
      // Otherwise the browser would click the part of the ad under the finger.
      if (type === 'touchend' && event.cancelable) event.preventDefault();
      holdBack(event);
    } else if ((event as MouseEvent).buttons !== 0) {
      // Otherwise the engine would continue the drag.
      holdBack(event);
    }
  }

  /** Runs on the root element: after listeners on `body`, and before those on `document` and `window`. */
  function stopAtAd(event: Event): void {
    const { target } = event;
    // A press that begins in the game and ends in the ad is a click on their common ancestor.
    if (target instanceof Node && (ad.contains(target) || target.contains(ad)))
      event.stopPropagation();
  }

  /** A locked pointer has no cursor, and its clicks go to the game. */
  function unlockPointer(): void {
    if (document.pointerLockElement) document.exitPointerLock();
  }

  for (const type of keyEvents) window.addEventListener(type, onKey, { capture: true, signal });
  for (const type of pressEvents) {
    window.addEventListener(type, onPress, { capture: true, signal });
    document.documentElement.addEventListener(type, stopAtAd, { signal });
  }
  // Set on the ad itself and never removed, because the click that closes the ad still bubbles after the hold has
  // ended.
  ad.onclick = (event) => event.stopPropagation();
  // Dragging an image or a link suppresses the release events of the press.
  ad.ondragstart = (event) => event.preventDefault();
  // The game may have requested the lock just before the ad opened.
  document.addEventListener('pointerlockchange', unlockPointer, { signal });
  unlockPointer();

  return () => {
    hold.abort();
    const game = canvas ?? document.body;
    for (const event of missedKeys) game.dispatchEvent(new KeyboardEvent('keyup', event));
    if (keysInAd.size > 0) keepUntilReleased(keysInAd);
    if (missedPresses.length > 0)
      loadReleasePresses().then(
        ({ releasePresses }) => releasePresses(game, missedPresses),
        () => undefined,
      );
  };
}

const loadReleasePresses = () => import('./release-presses.ts');

/**
 * Withholds from the game the repeat and release events of keys that are still down. This code is not loaded on demand,
 * because the key that closed the ad may be released immediately.
 */
function keepUntilReleased(pressed: Set<string>): void {
  const holdController = new AbortController();
  const { signal } = holdController;
  const holdBack = (event: KeyboardEvent) => {
    if (!pressed.has(event.code)) return;
    const pressedAgain = event.type === 'keydown' && !event.repeat;
    if (pressedAgain || event.type === 'keyup') pressed.delete(event.code);
    if (!pressedAgain) event.stopImmediatePropagation();
    if (pressed.size === 0) holdController.abort();
  };
  for (const type of keyEvents) window.addEventListener(type, holdBack, { capture: true, signal });
  // A release in another window sends no event here.
  window.addEventListener('blur', () => holdController.abort(), { signal });
}

/** Identifies a press by its pointer, its mouse button, or the element under the finger. */
function identifyPress(event: Event): unknown {
  if (event instanceof PointerEvent) return event.pointerId;
  if (event instanceof MouseEvent) return `button ${event.button}`;
  return event.target;
}
