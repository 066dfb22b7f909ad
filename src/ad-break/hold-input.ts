const keyEvents = ['keydown', 'keypress', 'keyup'] as const;
const pressEvents = ['click', 'dblclick', 'contextmenu', 'wheel'].concat(
  ['pointerdown', 'pointermove', 'pointerup', 'pointercancel'],
  ['mousedown', 'mousemove', 'mouseup'],
  ['touchstart', 'touchmove', 'touchend', 'touchcancel'],
);

/**
 * Keeps all input in the ad while one is open: a paused engine still listens on `window`, which hears
 * what happens in a modal dialog too. Controls of the ad, default actions and listeners on `body`
 * (Phaser unlocks audio there) work as usual.
 *
 * What the player held when the ad opened belongs to the game. If it is released during the ad, the
 * game hears of it when it is back (of pointers by `give-back-presses.ts`); if it is still held then, the game hears
 * the real release. Of a key that was pressed in the ad it hears nothing, even if the ad is gone before
 * the key is released.
 *
 * @param ad - The element that contains the ad.
 * @param canvas - Where the game listens; without one, `body` gets the events.
 * @returns Gives the input back to the game, which has to be running again.
 */
export function holdInput(ad: HTMLElement, canvas: HTMLElement | null): () => void {
  const keysInAd = new Set<string>();
  const pressesInAd = new Set<unknown>();
  const keysMissed: KeyboardEvent[] = [];
  const pressesMissed: Event[] = [];
  const hold = new AbortController();
  const { signal } = hold;

  function keep(event: Event): void {
    event.stopImmediatePropagation();
  }

  function hearKey(event: KeyboardEvent): void {
    const { code, repeat, type } = event;
    // A key that was down before goes on repeating.
    if (type === 'keydown' && !repeat) keysInAd.add(code);
    if (type === 'keyup' && !keysInAd.delete(code)) keysMissed.push(event);
    keep(event);
  }

  function hearPress(event: Event): void {
    const { type } = event;
    const press = pressOf(event);
    if (/down$|start$/.test(type)) {
      pressesInAd.add(press);
    } else if (pressesInAd.has(press)) {
      return;
    } else if (/up$|end$|cancel$/.test(type)) {
      pressesMissed.push(event);
      // Most ads need none of it. Loaded now, it is there when the ad ends; a failure is tried again then.
      loadGiveBack().catch(() => undefined);
      // A browser would make a click of it, on whatever the ad has under the finger.
      if (type === 'touchend' && event.cancelable) event.preventDefault();
      keep(event);
    } else if ((event as MouseEvent).buttons !== 0) {
      // An engine would go on with its drag.
      keep(event);
    }
  }

  /** On the root element: after listeners on `body`, and before those on `document` and `window`. */
  function keepInAd(event: Event): void {
    const { target } = event;
    // A press in the game that is released in the ad is a click on what contains both.
    if (target instanceof Node && (ad.contains(target) || target.contains(ad)))
      event.stopPropagation();
  }

  /** A locked pointer has no cursor, and its clicks go to the game. */
  function unlockPointer(): void {
    if (document.pointerLockElement) document.exitPointerLock();
  }

  for (const type of keyEvents) window.addEventListener(type, hearKey, { capture: true, signal });
  for (const type of pressEvents) {
    window.addEventListener(type, hearPress, { capture: true, signal });
    document.documentElement.addEventListener(type, keepInAd, { signal });
  }
  // Closer, and for good: a click that closes the ad still bubbles when the hold is over.
  ad.onclick = (event) => event.stopPropagation();
  // A picture or a link that is dragged away takes the end of the press with it.
  ad.ondragstart = (event) => event.preventDefault();
  // The game may have asked for the lock just before.
  document.addEventListener('pointerlockchange', unlockPointer, { signal });
  unlockPointer();

  return () => {
    hold.abort();
    const game = canvas ?? document.body;
    for (const event of keysMissed) game.dispatchEvent(new KeyboardEvent('keyup', event));
    if (keysInAd.size > 0) keepUntilReleased(keysInAd);
    if (pressesMissed.length > 0)
      loadGiveBack().then(
        ({ giveBackPresses }) => giveBackPresses(game, pressesMissed),
        () => undefined,
      );
  };
}

const loadGiveBack = () => import('./give-back-presses.ts');

/**
 * Keeps from the game what a key that is still down repeats, and its release. Part of this code, because the key
 * that closed the ad may come up at once.
 */
function keepUntilReleased(pressed: Set<string>): void {
  const kept = new AbortController();
  const { signal } = kept;
  const keep = (event: KeyboardEvent) => {
    if (!pressed.has(event.code)) return;
    const pressedAgain = event.type === 'keydown' && !event.repeat;
    if (pressedAgain || event.type === 'keyup') pressed.delete(event.code);
    if (!pressedAgain) event.stopImmediatePropagation();
    if (pressed.size === 0) kept.abort();
  };
  for (const type of keyEvents) window.addEventListener(type, keep, { capture: true, signal });
  // Released in another window, it is never heard of.
  window.addEventListener('blur', () => kept.abort(), { signal });
}

/** What is pressed, moved or released: a pointer, a mouse button, or what a finger touches. */
function pressOf(event: Event): unknown {
  if (event instanceof PointerEvent) return event.pointerId;
  if (event instanceof MouseEvent) return `button ${event.button}`;
  return event.target;
}
