import { join } from 'node:path';
import { root } from './run.mjs';

/** The sources of the modules that a user can import, by the name of the built file. */
export const entryPoints = {
  index: 'src/index.ts',
  'ad-placement': 'src/ad-placement/index.ts',
  cocos: 'src/cocos/index.ts',
  phaser: 'src/phaser/index.ts',
  server: 'src/server/index.ts',
};

/** The API reports that the build generates. */
export const builtReports = join(root, '.cache', 'api-reports');
/** The committed API reports, which reviewers see. */
export const committedReports = join(root, 'test', 'types', 'api');
