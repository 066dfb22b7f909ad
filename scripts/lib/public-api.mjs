import { join } from 'node:path';
import { root } from './run.mjs';

/** The source files of the package's entry points, keyed by the name of the built file. */
export const entryPoints = {
  index: 'src/index.ts',
  'ad-placement': 'src/ad-placement/index.ts',
  babylon: 'src/babylon/index.ts',
  cocos: 'src/cocos/index.ts',
  phaser: 'src/phaser/index.ts',
  pixi: 'src/pixi/index.ts',
  server: 'src/server/index.ts',
  'web-export': 'src/web-export/index.ts',
};

/** The folder that the build writes the API reports to. */
export const builtReportsDir = join(root, '.cache', 'api-reports');
/** The folder of the committed API reports, whose diffs show reviewers every change to the public API. */
export const committedReportsDir = join(root, 'test', 'types', 'api');
