import { releasePresses } from './release-presses.ts';

const keyEvents = ['keydown', 'keypress', 'keyup'] as const;
const pressEvents = ['click', 'dblclick', 'contextmenu', 'wheel'].concat(
  ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'],
  ['mousedown', 'mousemove', 'mouseup'],
  ['touchstart', 'touchmove', 'touchend', 'touchcancel'],
);

/**
 * Withholds all input from the game while an ad is open. A paused engine still listens on `window`, and events from a
 * modal dialog also reach `window`. The ad's own controls, default actions, and listeners on `body` (where Phaser
 * unlocks audio) work as usual.
 *
 * The game must see a release event for every key and pointer that was down when the ad opened. If the player releases
 * a key or pointer during the ad, the game receives a synthetic release event after the ad (for pointers, see
 * `release-presses.ts`). A release after the ad reaches the game as usual. A key that is pressed during the ad never
 * reaches the game.
 *
 * @param ad - The element that contains the ad.
 * @param canvas - The element on which the game listens. Default: `body`.
 * @returns A function that stops withholding input. Call it when the game is running again.
 */
export function holdInput(ad: HTMLElement, canvas: HTMLElement | null): () => void {
  const keysInAd = new Set<string>();
  const pressesInAd = new Set<unknown>();
  const missedKeyReleases: KeyboardEvent[] = [];
  const missedPointerReleases: Event[] = [];
  const holdController = new AbortController();
  const { signal } = holdController;

  function withhold(event: Event): void {
    event.stopImmediatePropagation();
  }

  function onKey(event: KeyboardEvent): void {
    const { code, repeat, type } = event;
    // Auto-repeat events are ignored, because the key may have been down when the ad opened.
    if (type === 'keydown' && !repeat) keysInAd.add(code);
    if (type === 'keyup' && !keysInAd.delete(code)) missedKeyReleases.push(event);
    withhold(event);
  }

  function onPress(event: Event): void {
    const { type } = event;
    const press = identifyPress(event);
    if (/down$|start$/.test(type)) {
      pressesInAd.add(press);
    } else if (pressesInAd.has(press)) {
      return;
    } else if (/up$|end$|cancel$/.test(type)) {
      missedPointerReleases.push(event);
      // Otherwise, lifting the finger would click the ad underneath it.
      if (type === 'touchend' && event.cancelable) event.preventDefault();
      withhold(event);
    } else if ((event as MouseEvent).buttons !== 0) {
      // Otherwise, the engine would continue the drag.
      withhold(event);
    }
  }

  /**
   * Stops the ad's events at the root element. Listeners on `body` have run by then; listeners on `document` and
   * `window` have not.
   */
  function stopAtAd(event: Event): void {
    const { target } = event;
    // If a press begins in the game and ends in the ad, browsers fire `click` on their common ancestor.
    if (target instanceof Node && (ad.contains(target) || target.contains(ad)))
      event.stopPropagation();
  }

  /** While the pointer is locked, there is no cursor, and clicks go to the game. */
  function unlockPointer(): void {
    if (document.pointerLockElement) document.exitPointerLock();
  }

  for (const type of keyEvents) window.addEventListener(type, onKey, { capture: true, signal });
  for (const type of pressEvents) {
    window.addEventListener(type, onPress, { capture: true, signal });
    document.documentElement.addEventListener(type, stopAtAd, { signal });
  }
  // Never removed, because the click that closes the ad is still bubbling when the game gets its input back.
  ad.onclick = (event) => event.stopPropagation();
  // Browsers fire no release events while an image or a link is being dragged.
  ad.ondragstart = (event) => event.preventDefault();
  // The game may have requested pointer lock just before the ad opened.
  document.addEventListener('pointerlockchange', unlockPointer, { signal });
  unlockPointer();

  return () => {
    holdController.abort();
    const game = canvas ?? document.body;
    for (const event of missedKeyReleases) game.dispatchEvent(new KeyboardEvent('keyup', event));
    if (keysInAd.size > 0) withholdUntilReleased(keysInAd);
    releasePresses(game, missedPointerReleases);
  };
}

/** Withholds auto-repeat and release events for the pressed keys from the game. */
function withholdUntilReleased(pressedKeys: Set<string>): void {
  const holdController = new AbortController();
  const { signal } = holdController;
  const withhold = (event: KeyboardEvent) => {
    if (!pressedKeys.has(event.code)) return;
    const pressedAgain = event.type === 'keydown' && !event.repeat;
    if (pressedAgain || event.type === 'keyup') pressedKeys.delete(event.code);
    if (!pressedAgain) event.stopImmediatePropagation();
    if (pressedKeys.size === 0) holdController.abort();
  };
  for (const type of keyEvents) window.addEventListener(type, withhold, { capture: true, signal });
  // If a key is released in another window, this window receives no event.
  window.addEventListener('blur', () => holdController.abort(), { signal });
}

/** Identifies a press by its pointer, its mouse button, or the element under the finger. */
function identifyPress(event: Event): unknown {
  if (event instanceof PointerEvent) return event.pointerId;
  if (event instanceof MouseEvent) return `button ${event.button}`;
  return event.target;
}
