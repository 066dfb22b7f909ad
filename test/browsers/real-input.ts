import { commands } from 'vitest/browser';

/**
 * Implements the part of Vitest's `userEvent` that the tests use, with real mouse and keyboard input at window
 * coordinates. Vitest's own implementation accesses frames and shadow roots in ways that only Chromium supports. Tests
 * that import `vitest/browser` get this module instead: see vitest.config.ts.
 */
export { cdp, commands, page, server } from 'vitest/browser';

declare module 'vitest/browser' {
  interface BrowserCommands {
    clickAt(x: number, y: number): Promise<void>;
    pressKeys(text: string): Promise<void>;
  }
}

interface ClickOptions {
  position?: { x: number; y: number };
}

/**
 * Clicks an element at its coordinates in the top-level window. The test runs in an iframe, so the element's own client
 * coordinates are relative to that frame.
 */
async function click(
  target: Element | { element(): Element },
  options: ClickOptions = {},
): Promise<void> {
  const element = 'element' in target ? target.element() : target;
  await waitUntilStill(element);
  element.scrollIntoView({ block: 'nearest' });
  const bounds = element.getBoundingClientRect();
  const { x, y } = options.position ?? { x: bounds.width / 2, y: bounds.height / 2 };
  const { left, scale, top } = getFrame();
  await commands.clickAt(left + (bounds.left + x) * scale, top + (bounds.top + y) * scale);
}

/** Returns the test frame's position and scale. Vitest scales down a frame that is larger than the window. */
function getFrame(): { left: number; top: number; scale: number } {
  const element = window.frameElement as HTMLElement | null;
  if (element === null) return { left: 0, top: 0, scale: 1 };
  const { left, top, width } = element.getBoundingClientRect();
  return { left, top, scale: width / element.offsetWidth };
}

/** Waits for animations to finish, because a click would miss a moving element. */
async function waitUntilStill(element: Element): Promise<void> {
  const moving = (element.getRootNode() as Document | ShadowRoot)
    .getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map(({ finished }) => finished));
}

async function keyboard(text: string): Promise<void> {
  // Before the first click, key events go to the window that contains the test's frame.
  if (!document.hasFocus()) window.focus();
  await commands.pressKeys(text);
}

export const userEvent = {
  click,
  keyboard,
  tab: () => keyboard('{Tab}'),
  setup: () => userEvent,
};
