import { join } from 'node:path';

const source = (path: string) => join(import.meta.dirname, '../src', path);

/** Resolves imports of the SDK to its source files, so that the demo needs no built SDK. */
export const sdkSources = [
  { find: /^trueward$/, replacement: source('index.ts') },
  { find: /^trueward\/phaser$/, replacement: source('phaser/index.ts') },
  { find: /^trueward\/server$/, replacement: source('server/index.ts') },
];
