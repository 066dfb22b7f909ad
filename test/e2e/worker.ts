/* oxlint-disable no-empty-pattern -- Vitest reads a fixture's dependencies from the pattern. */
import { test } from 'vitest';
import { launchBrowser } from './browser.ts';
import { startStack } from './stack.ts';

/**
 * `it` with what the test files of a worker share: a browser, in which each file opens contexts of its own,
 * and a stack. Each is started when the first test asks for it.
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
