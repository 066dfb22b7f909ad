/* oxlint-disable no-empty-pattern -- Vitest reads a fixture's dependencies from the pattern. */
import { test } from 'vitest';
import { launchBrowser } from './browser.ts';
import { startStack } from './stack.ts';

/**
 * `it` with a stack and a browser as fixtures. All test files in a worker share them, and each file opens its own
 * browser contexts. A fixture is set up when a test first uses it.
 */
export const it = test
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  })
  .extend('stack', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const stack = await startStack();
    onCleanup(() => stack.stop());
    return stack;
  });
