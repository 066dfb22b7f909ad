import { join } from 'node:path';

const source = (path: string) => join(import.meta.dirname, '../src', path);

/** The demo imports the SDK as a game does, and gets its sources, so that it needs no build before its own. */
export const sdkSources = [
  { find: /^trueward$/, replacement: source('index.ts') },
  { find: /^trueward\/phaser$/, replacement: source('phaser/index.ts') },
  { find: /^trueward\/server$/, replacement: source('server/index.ts') },
];
