/* oxlint-disable no-empty-pattern -- Vitest reads a fixture's dependencies from the pattern. */
import { test } from 'vitest';
import { installPackage } from './installed-package.ts';

/** `it` with the installed package as a fixture. All test files in a worker share the installation. */
export const it = test.extend('installedPackage', { scope: 'worker' }, ({}, { onCleanup }) => {
  const installedPackage = installPackage({
    linkedPackages: ['@cocos/creator-types', 'phaser', 'react', 'react-dom', 'vite', 'webpack'],
  });
  onCleanup(() => installedPackage.remove());
  return installedPackage;
});
