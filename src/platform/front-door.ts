import { listen, native } from './native.ts';

/**
 * The window's first listeners for discrete input and for the page's visibility. They are added when the SDK is loaded,
 * normally before the game adds its own, so that a page that cancels or stops events can neither disable an ad's controls
 * nor let the ad play on where nobody sees it.
 */
export const inputTypes = ['keydown', 'keypress', 'keyup', 'click', 'auxclick'].concat(
  ['pointerdown', 'pointerup', 'pointercancel', 'mousedown', 'mouseup'],
  ['touchstart', 'touchend', 'touchcancel'],
);

type InputHandler = (event: Event) => void;

const handlers = new Set<InputHandler>();
const visibilityHandlers = new Set<() => void>();
let isOpen = false;
let pressedAtMs = -Infinity;

function receive(event: Event): void {
  if (event.isTrusted && /down$|start$/.test(event.type)) pressedAtMs = native.monotonic();
  for (const handler of handlers) handler(event);
}

/** Adds the listeners. They stay for as long as the page, and do nothing while there is no handler. */
export function openFrontDoor(): void {
  if (isOpen || typeof window === 'undefined') return;
  isOpen = true;
  for (const type of inputTypes)
    listen(window, type, receive, { capture: true, passive: type === 'touchstart' });
  listen(window, 'visibilitychange', () => visibilityHandlers.forEach((handler) => handler()), {
    capture: true,
  });
}

/**
 * Calls `handler` for all input in this page before anything else receives it. Handlers are called in the order in which
 * they were added, even if one of them stops the event. Returns a function that removes the handler.
 */
export function onInput(handler: InputHandler): () => void {
  openFrontDoor();
  handlers.add(handler);
  return () => handlers.delete(handler);
}

/** Calls `handler` when the page becomes hidden or visible. Returns a function that removes the handler. */
export function onVisibilityChange(handler: () => void): () => void {
  openFrontDoor();
  visibilityHandlers.add(handler);
  return () => visibilityHandlers.delete(handler);
}

/** Returns when a key, button or finger was last pressed in this page (not in a frame), in monotonic milliseconds. */
export const lastPressMs = (): number => pressedAtMs;
