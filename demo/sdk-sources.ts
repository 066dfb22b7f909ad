import { join } from 'node:path';

const source = (path: string) => join(import.meta.dirname, '../src', path);

/** Resolves SDK imports to the source files, so that the demo doesn't need a built SDK. */
export const sdkSources = [
  { find: /^trueward$/, replacement: source('index.ts') },
  { find: /^trueward\/babylon$/, replacement: source('babylon/index.ts') },
  { find: /^trueward\/pixi$/, replacement: source('pixi/index.ts') },
  { find: /^trueward\/phaser$/, replacement: source('phaser/index.ts') },
  { find: /^trueward\/server$/, replacement: source('server/index.ts') },
];
