import { cdp, server, userEvent } from 'vitest/browser';

/** The position of a real input event. Only Chromium can emulate real input from a page. */
type Point = { x: number; y: number };

/**
 * Finds a point of an element in window coordinates. The test runs in a frame, which may be scaled.
 *
 * @param at - The point's distance from the element's upper left corner. Default: its center.
 */
function findPoint(element: Element, at?: Point): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  const { x, y } = at ?? { x: width / 2, y: height / 2 };
  return toWindowPoint({ x: left + x, y: top + y });
}

function toWindowPoint({ x, y }: Point): Point {
  const frame = window.frameElement as HTMLElement | null;
  if (frame === null) return { x, y };
  const { left, top, width } = frame.getBoundingClientRect();
  const scale = width / frame.offsetWidth;
  return { x: left + x * scale, y: top + y * scale };
}

const send = (method: 'Input.dispatchMouseEvent', params: object) =>
  cdp().send(method, params as never);

/** The left mouse button. */
export const mouse = {
  async down(element: Element, at?: Point): Promise<void> {
    const point = findPoint(element, at);
    await send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
    await send('Input.dispatchMouseEvent', {
      type: 'mousePressed',
      button: 'left',
      buttons: 1,
      clickCount: 1,
      ...point,
    });
  },
  /**
   * Clicks the center of an element.
   *
   * @param options - `clickCount`: which click of a sequence it is, such as 2 at the end of a double click. `timestamp`:
   *   the time of the events, in seconds since 1970; default: now.
   */
  async click(
    element: Element,
    options: { button?: 'middle'; clickCount?: number; timestamp?: number } = {},
  ): Promise<void> {
    const click = { button: 'left', clickCount: 1, ...options, ...findPoint(element) };
    for (const type of ['mousePressed', 'mouseReleased'])
      await send('Input.dispatchMouseEvent', { type, ...click });
  },
  async drag(element: Element, by = 10): Promise<void> {
    const { x, y } = findPoint(element);
    await send('Input.dispatchMouseEvent', {
      type: 'mouseMoved',
      button: 'left',
      buttons: 1,
      x: x + by,
      y,
    });
  },
  async up(element: Element, at?: Point): Promise<void> {
    await send('Input.dispatchMouseEvent', {
      type: 'mouseReleased',
      button: 'left',
      clickCount: 1,
      ...findPoint(element, at),
    });
  },
};

/**
 * Clicks a point of an element at once, by default its center. In Chromium, `userEvent.click()` first waits until the
 * browser driver takes the element for ready, which on a busy machine didn't happen within a minute.
 */
export async function click(element: Element, at?: Point): Promise<void> {
  if (server.browser !== 'chromium')
    return userEvent.click(element, at === undefined ? {} : { position: at });
  await mouse.down(element, at);
  await mouse.up(element, at);
}

/** One finger. */
export const finger = {
  async down(element: Element): Promise<void> {
    await touch('touchStart', [findPoint(element)]);
  },
  async drag(element: Element, by = 10): Promise<void> {
    const { x, y } = findPoint(element);
    await touch('touchMove', [{ x: x + by, y }]);
  },
  async up(_element?: Element): Promise<void> {
    await touch('touchEnd', []);
  },
  /** Taps an element while another finger rests on the game. */
  async tapBeside(resting: Element, element: Element): Promise<void> {
    const rest = { ...findPoint(resting), id: 0 };
    await touch('touchStart', [rest, { ...findPoint(element), id: 1 }]);
    await touch('touchEnd', [{ ...findPoint(element), id: 1 }]);
  },
  /** Doesn't wait before it lifts the finger, because a busy page would take a long touch for a long press. */
  async tap(element: Element): Promise<void> {
    await Promise.all([finger.down(element), finger.up()]);
  },
};

const touch = (
  type: 'touchStart' | 'touchMove' | 'touchEnd',
  touchPoints: (Point & { id?: number })[],
) => cdp().send('Input.dispatchTouchEvent', { type, touchPoints });

/** Keys with their standard names and codes, and with the legacy key codes that older engines read. */
export const keys = {
  right: { key: 'ArrowRight', code: 'ArrowRight', windowsVirtualKeyCode: 39 },
  up: { key: 'ArrowUp', code: 'ArrowUp', windowsVirtualKeyCode: 38 },
  enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  escape: { key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 },
};

type Key = (typeof keys)[keyof typeof keys];

export const keyboard = {
  async down(key: Key): Promise<void> {
    await cdp().send('Input.dispatchKeyEvent', { type: 'keyDown', ...key });
  },
  /** Sends an auto-repeat event, as a keyboard does while a key is held. */
  async repeat(key: Key): Promise<void> {
    await cdp().send('Input.dispatchKeyEvent', { type: 'keyDown', autoRepeat: true, ...key });
  },
  async up(key: Key): Promise<void> {
    await cdp().send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  },
};
