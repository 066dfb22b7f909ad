import type { Clock } from '../platform/clock.ts';
import { attempt } from '../platform/guard.ts';
import { loadPart } from '../platform/load-part.ts';
import { listen, native } from '../platform/native.ts';
import type { InputGate } from './input-gate.ts';

/** Lets gamepads operate the ad. Their code is loaded when there is one, or when a button is pressed for the first time. */
export const awaitGamepad = (root: ShadowRoot, gate: InputGate, clock: Clock): (() => void) =>
  followWhenNeeded(
    attempt(() => navigator.getGamepads())?.some(Boolean) ?? false,
    'gamepadconnected',
    (deps) =>
      loadPart(() => import('./gamepad.ts'), 'followGamepads', deps).then((followGamepads) =>
        followGamepads(root, gate),
      ),
    clock,
  );

/** Turns the ad with the game. The code for it is loaded if the page transforms the game, or when the screen turns. */
export const awaitTurn = (host: HTMLElement, game: Element | null, clock: Clock): (() => void) =>
  followWhenNeeded(
    isTransformed(game),
    'resize',
    (deps) =>
      loadPart(() => import('../creative/follow-turn.ts'), 'followTurn', deps).then((followTurn) =>
        followTurn(host, game),
      ),
    clock,
  );

/**
 * Starts to follow something: at once if it is needed now, or when this event reaches the window. Returns a function that
 * stops it.
 */
function followWhenNeeded(
  isNeeded: boolean,
  event: string,
  follow: (deps: { clock: Clock; signal: AbortSignal }) => Promise<() => void>,
  clock: Clock,
): () => void {
  const lifetime = new native.AbortController();
  const { signal } = lifetime;
  const start = (): void =>
    void follow({ clock, signal }).then(
      (stop) => listen(signal, 'abort', stop, { once: true }),
      // The ad has closed.
      () => undefined,
    );
  if (isNeeded) start();
  else listen(window, event, start, { once: true, signal });
  return () => lifetime.abort();
}

/** Whether the page transforms an element in any way. */
const isTransformed = (element: Element | null): boolean => {
  if (element === null) return false;
  const { rotate, transform } = getComputedStyle(element);
  return /\d/.test(transform + rotate) || isTransformed(element.parentElement);
};
