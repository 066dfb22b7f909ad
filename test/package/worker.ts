import { test } from 'vitest';
import { installPackage } from './installed-package.ts';

/** `it` with what the test files of one worker share: the package, installed into a project. */
/* oxlint-disable no-empty-pattern -- Vitest reads from the pattern what a fixture depends on. */
export const it = test.extend('installed', { scope: 'worker' }, ({}, { onCleanup }) => {
  const installed = installPackage({
    uses: ['phaser', 'react', 'react-dom', 'vite', 'webpack'],
  });
  onCleanup(() => installed.remove());
  return installed;
});
