/**
 * Dispatches the release events for presses that the player began in the game and released during the ad.
 *
 * @param game - Receives `pointercancel`, `touchcancel` and `mouseup` events, which bubble. The coordinates of a
 *   `mouseup` are outside the game, so that nothing is clicked.
 * @param missedReleases - The original release events, which the game did not receive.
 */
export function releasePresses(game: HTMLElement, missedReleases: Event[]): void {
  for (const event of missedReleases) endPress(event, game);
}

function endPress(event: Event, game: HTMLElement): void {
  const { left, top, width, height } = game.getBoundingClientRect();
  // Engines treat these coordinates as the point at which the press was released, so they are well outside the game.
  const pointOutside = { clientX: left - width, clientY: top - height };
  if (event instanceof PointerEvent) {
    game.dispatchEvent(new PointerEvent('pointercancel', event));
  } else if (event instanceof MouseEvent) {
    const { button, buttons } = event;
    const init = { bubbles: true, cancelable: true, composed: true, view: window };
    game.dispatchEvent(new MouseEvent('mouseup', { ...init, ...pointOutside, button, buttons }));
  } else {
    const { changedTouches, targetTouches, touches, target } = event as TouchEvent;
    const canceledTouches = Array.from(changedTouches, (touch) => ({
      ...pointOutside,
      pageX: pointOutside.clientX + scrollX,
      pageY: pointOutside.clientY + scrollY,
      identifier: touch.identifier,
      target: touch.target,
    }));
    // In Safari, scripts cannot construct touch events.
    const cancel = new Event('touchcancel', { bubbles: true, cancelable: true });
    Object.assign(cancel, { changedTouches: canceledTouches, targetTouches, touches });
    target?.dispatchEvent(cancel);
  }
}
