import { cdp } from 'vitest/browser';

/** The position of a real input event. Only Chromium can emulate real input from a page. */
type Point = { x: number; y: number };

/** Finds the center of an element in window coordinates. The test runs in a frame, which may be scaled. */
function findCenter(element: Element): Point {
  const { left, top, width, height } = element.getBoundingClientRect();
  return toWindowPoint({ x: left + width / 2, y: top + height / 2 });
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
  async down(element: Element): Promise<void> {
    const point = findCenter(element);
    await send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point });
    await send('Input.dispatchMouseEvent', {
      type: 'mousePressed',
      button: 'left',
      buttons: 1,
      clickCount: 1,
      ...point,
    });
  },
  async drag(element: Element, by = 10): Promise<void> {
    const { x, y } = findCenter(element);
    await send('Input.dispatchMouseEvent', {
      type: 'mouseMoved',
      button: 'left',
      buttons: 1,
      x: x + by,
      y,
    });
  },
  async up(element: Element): Promise<void> {
    await send('Input.dispatchMouseEvent', {
      type: 'mouseReleased',
      button: 'left',
      clickCount: 1,
      ...findCenter(element),
    });
  },
};

/** One finger. */
export const finger = {
  async down(element: Element): Promise<void> {
    await touch('touchStart', [findCenter(element)]);
  },
  async drag(element: Element, by = 10): Promise<void> {
    const { x, y } = findCenter(element);
    await touch('touchMove', [{ x: x + by, y }]);
  },
  async up(_element?: Element): Promise<void> {
    await touch('touchEnd', []);
  },
};

const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]) =>
  cdp().send('Input.dispatchTouchEvent', { type, touchPoints });

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
