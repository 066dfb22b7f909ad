import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Runs page tests in Firefox with the real service. Excludes tests that rely on Chromium-only features. */
export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  resolve: {
    tsconfigPaths: true,
    // See use-older-playwright.mjs.
    alias: { playwright: join(import.meta.dirname, 'node_modules', 'playwright', 'index.mjs') },
  },
  test: {
    // The same timeout as in the repository's main configuration.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 90_000,
    hookTimeout: 120_000,
    include: ['test/e2e/true-rewards.test.ts', 'test/e2e/break/lazy-files.test.ts'],
  },
});
