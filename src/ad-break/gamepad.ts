import { findTabStops } from '../creative/overlay.ts';
import { attempt } from '../platform/guard.ts';
import { native } from '../platform/native.ts';
import type { InputGate } from './input-gate.ts';

/** Button numbers of the {@link https://w3c.github.io/gamepad/#remapping | standard gamepad}. */
const buttons = { confirm: 0, back: 1, up: 12, down: 13, left: 14, right: 15 };
/**
 * How far a stick must be moved to count as a press of the directional pad, and how far it must return for the next one. A
 * stick never rests in one place.
 */
const stickThreshold = { press: 0.6, release: 0.4 };

/**
 * Lets a gamepad operate the ad: a direction moves the focus, the bottom button presses the focused control, and the
 * right button goes back, like the Escape key. The last two act when they are released. Otherwise, the game would see
 * them as pressed after they closed the ad.
 *
 * @returns A function that stops reading gamepads.
 */
export function followGamepads(root: ShadowRoot, gate: InputGate): () => void {
  /** Whether each button that is down counts. Buttons that were down when the ad opened don't. */
  let down: Map<string, boolean> | undefined;
  let frame: number | undefined;
  /** When the gamepads were last read. A button that is down now may have been pressed just after that. */
  let readAtMs = native.monotonic();

  function poll(): void {
    frame = attempt(() => native.requestAnimationFrame(poll));
    const current = readButtons(down);
    const previous = down;
    down = new Map();
    for (const [id, button] of current) {
      const counted =
        previous === undefined ? false : (previous.get(id) ?? gate.admit({ timeStamp: readAtMs }));
      down.set(id, counted);
      if (counted && previous?.has(id) === false) press(button);
    }
    readAtMs = native.monotonic();
    for (const [id, counted] of previous ?? [])
      if (counted && !current.has(id)) release(Number(id.split(' ')[1]));
  }

  function press(button: number): void {
    const backward = button === buttons.up || button === buttons.left;
    if (!backward && button !== buttons.down && button !== buttons.right) return;
    // Without a gesture inside a frame, a script can't press anything there.
    const stops = findTabStops(root).filter((stop) => !(stop instanceof HTMLIFrameElement));
    const index = stops.findIndex((stop) => stop === root.activeElement);
    const next = backward ? stops.at(Math.max(index, 0) - 1) : stops[(index + 1) % stops.length];
    const options: FocusOptions & { focusVisible: boolean } = {
      focusVisible: true,
      preventScroll: false,
    };
    next?.focus(options);
  }

  function release(button: number): void {
    const control = root.activeElement;
    if (button === buttons.back) {
      root.querySelector('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true }));
    } else if (button === buttons.confirm && control instanceof HTMLElement) {
      // In browsers where a gamepad is no user gesture, the link would not open.
      const isBlocked = control.tagName === 'A' && navigator.userActivation?.isActive === false;
      if (!isBlocked) control.click();
    }
  }

  poll();
  return () => {
    if (frame !== undefined) attempt(() => native.cancelAnimationFrame(frame ?? 0));
  };
}

/** Returns the numbers of the buttons that are down, by gamepad and button. `down` contains those that were. */
function readButtons(down?: Map<string, boolean>): Map<string, number> {
  const pressed = new Map<string, number>();
  for (const pad of attempt(() => navigator.getGamepads()) ?? []) {
    if (!pad?.connected) continue;
    const add = (button: number) => pressed.set(`${pad.index} ${button}`, button);
    const move = (button: number, distance: number) => {
      const { press, release } = stickThreshold;
      if (distance > (down?.has(`${pad.index} ${button}`) ? release : press)) add(button);
    };
    pad.buttons.forEach((button, index) => button.pressed && add(index));
    const [x = 0, y = 0] = pad.axes;
    move(buttons.left, -x);
    move(buttons.right, x);
    move(buttons.up, -y);
    move(buttons.down, y);
  }
  return pressed;
}
