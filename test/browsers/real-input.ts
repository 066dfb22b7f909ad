import { commands } from 'vitest/browser';

/**
 * The part of Vitest's `userEvent` that the tests use, implemented with real mouse and keyboard input at window
 * coordinates. Vitest's own implementation reaches into frames and shadow roots in ways that only Chromium supports. It
 * replaces `vitest/browser` in the tests: see vitest.config.ts.
 */
export { cdp, commands, page, server } from 'vitest/browser';

declare module 'vitest/browser' {
  interface BrowserCommands {
    clickAt(x: number, y: number): Promise<void>;
    pressKeys(text: string): Promise<void>;
  }
}

interface Where {
  position?: { x: number; y: number };
}

/** Clicks at the window coordinates of an element, because the test runs in a frame. */
async function click(target: Element | { element(): Element }, where: Where = {}): Promise<void> {
  const element = 'element' in target ? target.element() : target;
  await waitUntilStill(element);
  element.scrollIntoView({ block: 'nearest' });
  const bounds = element.getBoundingClientRect();
  const { x, y } = where.position ?? { x: bounds.width / 2, y: bounds.height / 2 };
  const { left, scale, top } = frame();
  await commands.clickAt(left + (bounds.left + x) * scale, top + (bounds.top + y) * scale);
}

/** Returns the position of the test frame and its scale. Vitest scales down a frame that is larger than the window. */
function frame(): { left: number; top: number; scale: number } {
  const element = window.frameElement as HTMLElement | null;
  if (element === null) return { left: 0, top: 0, scale: 1 };
  const { left, top, width } = element.getBoundingClientRect();
  return { left, top, scale: width / element.offsetWidth };
}

/** Waits for animations, because a click would miss a moving element. */
async function waitUntilStill(element: Element): Promise<void> {
  const moving = (element.getRootNode() as Document | ShadowRoot)
    .getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map(({ finished }) => finished));
}

async function keyboard(text: string): Promise<void> {
  // Until the first click, key events go to the parent window of the test's frame.
  if (!document.hasFocus()) window.focus();
  await commands.pressKeys(text);
}

export const userEvent = {
  click,
  keyboard,
  tab: () => keyboard('{Tab}'),
  setup: () => userEvent,
};
