import { commands } from 'vitest/browser';

/**
 * What the tests use of Vitest's `userEvent`, by real mouse and keyboard at a place in the window:
 * Vitest's own reaches into frames and shadow roots by ways that only Chromium has here. The tests
 * get it in place of `vitest/browser`: see vitest.config.ts.
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

/** Where an element is in the window: the test runs in a frame of it. */
async function click(target: Element | { element(): Element }, where: Where = {}): Promise<void> {
  const element = 'element' in target ? target.element() : target;
  await settled(element);
  element.scrollIntoView({ block: 'nearest' });
  const box = element.getBoundingClientRect();
  const { x, y } = where.position ?? { x: box.width / 2, y: box.height / 2 };
  const { left, scale, top } = frame();
  await commands.clickAt(left + (box.left + x) * scale, top + (box.top + y) * scale);
}

/** Vitest makes the frame of a test smaller where it is larger than the window. */
function frame(): { left: number; top: number; scale: number } {
  const element = window.frameElement as HTMLElement | null;
  if (element === null) return { left: 0, top: 0, scale: 1 };
  const { left, top, width } = element.getBoundingClientRect();
  return { left, top, scale: width / element.offsetWidth };
}

/** What still moves is missed. */
async function settled(element: Element): Promise<void> {
  const moving = (element.getRootNode() as Document | ShadowRoot)
    .getAnimations()
    .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(moving.map(({ finished }) => finished));
}

async function keyboard(text: string): Promise<void> {
  // Until the first click, keys go to the window around the frame that the test runs in.
  if (!document.hasFocus()) window.focus();
  await commands.pressKeys(text);
}

export const userEvent = {
  click,
  keyboard,
  tab: () => keyboard('{Tab}'),
  setup: () => userEvent,
};
