/**
 * Gives the input back to a game after an ad: the game hears the end of what the player released
 * during it, and nothing of a key that closed it.
 *
 * @param game - Gets the events, which bubble: `keyup`, or `pointercancel`, `touchcancel` and `mouseup`
 *   outside the game, so that nothing is clicked.
 * @param missed - The real releases, which the game has not heard.
 * @param pressed - Codes of the keys that were pressed in the ad and are still down.
 */
export function giveBackInput(game: HTMLElement, missed: Event[], pressed: Set<string>): void {
  for (const event of missed) endPress(event, game);
  if (pressed.size > 0) keepUntilReleased(pressed);
}

function endPress(event: Event, game: HTMLElement): void {
  const { left, top, width, height } = game.getBoundingClientRect();
  // As far from the game as it is large: engines take the place for that of a release.
  const away = { clientX: left - width, clientY: top - height };
  if (event instanceof KeyboardEvent) {
    game.dispatchEvent(new KeyboardEvent('keyup', event));
  } else if (event instanceof PointerEvent) {
    game.dispatchEvent(new PointerEvent('pointercancel', event));
  } else if (event instanceof MouseEvent) {
    const { button, buttons } = event;
    const init = { bubbles: true, cancelable: true, composed: true, view: window };
    game.dispatchEvent(new MouseEvent('mouseup', { ...init, ...away, button, buttons }));
  } else {
    const { changedTouches, targetTouches, touches, target } = event as TouchEvent;
    const cancelled = Array.from(changedTouches, (touch) => ({
      ...away,
      pageX: away.clientX + scrollX,
      pageY: away.clientY + scrollY,
      identifier: touch.identifier,
      target: touch.target,
    }));
    // Safari has no constructors for touches.
    const cancel = new Event('touchcancel', { bubbles: true, cancelable: true });
    Object.assign(cancel, { changedTouches: cancelled, targetTouches, touches });
    target?.dispatchEvent(cancel);
  }
}

/** Keeps from the game what a key that is still down repeats, and its release. */
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
  for (const type of ['keydown', 'keypress', 'keyup'] as const)
    window.addEventListener(type, keep, { capture: true, signal });
  // Released in another window, it is never heard of.
  window.addEventListener('blur', () => kept.abort(), { signal });
}
