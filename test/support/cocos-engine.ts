import { resolve } from 'node:path';

/**
 * The folder COCOS_ENGINE with Cocos Creator's engine, built as an ES module `cc.js`. The engine is not part of this
 * repository.
 */
const folder = process.env['COCOS_ENGINE'];

/** The folder, if there is one. Vite must be allowed to serve it. */
export const cocosEngineFolders = folder === undefined ? [] : [resolve(folder)];

/** The folder's URL on a test's page, or an empty string. */
export const cocosEngineUrl = cocosEngineFolders
  .map((path) => `/@fs/${path.replaceAll('\\', '/').replace(/^\//, '')}`)
  .join();
