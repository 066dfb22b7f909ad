import { join } from 'node:path';

const source = (path: string) => join(import.meta.dirname, '../src', path);

/** Resolves imports of the SDK to its sources, so that the demo does not need a build of the SDK. */
export const sdkSources = [
  { find: /^trueward$/, replacement: source('index.ts') },
  { find: /^trueward\/phaser$/, replacement: source('phaser/index.ts') },
  { find: /^trueward\/server$/, replacement: source('server/index.ts') },
];
