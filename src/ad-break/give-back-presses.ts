/**
 * Ends presses in a game after an ad: the game hears of those that the player released during it.
 *
 * @param game - Gets the events, which bubble: `pointercancel`, `touchcancel`, and `mouseup` outside the game,
 *   so that nothing is clicked.
 * @param missed - The real releases, which the game has not heard.
 */
export function giveBackPresses(game: HTMLElement, missed: Event[]): void {
  for (const event of missed) endPress(event, game);
}

function endPress(event: Event, game: HTMLElement): void {
  const { left, top, width, height } = game.getBoundingClientRect();
  // As far from the game as it is large: engines take the place for that of a release.
  const away = { clientX: left - width, clientY: top - height };
  if (event instanceof PointerEvent) {
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
