const keyEvents = ['keydown', 'keypress', 'keyup'] as const;
const pressEvents = ['click', 'dblclick', 'contextmenu', 'wheel'].concat(
  ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'],
  ['mousedown', 'mousemove', 'mouseup'],
  ['touchstart', 'touchmove', 'touchend', 'touchcancel'],
);

/**
 * Withholds all input from the game while an ad is open. This is necessary because a paused engine still listens on
 * `window`, which receives even the events of a modal dialog. The ad's own controls, default actions, and listeners on
 * `body` (where Phaser unlocks audio) work as usual.
 *
 * Keys and pointers that were down when the ad opened belong to the game. If one of them is released during the ad, the
 * game receives a release after the ad (`release-presses.ts` does this for pointers). If it is still down after the ad,
 * the game receives the real release. A key that was pressed during the ad never reaches the game, even if it is
 * released after the ad has closed.
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
    // A repeated event is from a key that was already down when the ad opened.
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
      // Most ads never need this code. Loading it now makes it available when the ad ends. If loading fails, it is
      // tried again then.
      loadReleasePresses().catch(() => undefined);
      // Prevents the browser from clicking the part of the ad that is under the finger.
      if (type === 'touchend' && event.cancelable) event.preventDefault();
      holdBack(event);
    } else if ((event as MouseEvent).buttons !== 0) {
      // Prevents the engine from continuing the drag.
      holdBack(event);
    }
  }

  /**
   * Runs on the root element, so that listeners on `body` run before it and those on `document` and `window` would run
   * after it.
   */
  function stopAtAd(event: Event): void {
    const { target } = event;
    // If a press begins in the game and ends in the ad, browsers report a click on their common ancestor.
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
  // Set on the ad itself and never removed, because the click that closes the ad still bubbles after this function has
  // returned the input to the game.
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
