/* oxlint-disable no-empty-pattern -- Vitest reads a fixture's dependencies from the pattern. */
import { test } from 'vitest';
import { installPackage } from './installed-package.ts';

/** `it` with the installed package. All test files in a worker share the package. */
export const it = test.extend('installed', { scope: 'worker' }, ({}, { onCleanup }) => {
  const installed = installPackage({
    uses: ['@cocos/creator-types', 'phaser', 'react', 'react-dom', 'vite', 'webpack'],
  });
  onCleanup(() => installed.remove());
  return installed;
});
