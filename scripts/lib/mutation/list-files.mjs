import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run.mjs';

/**
 * Lists a folder's TypeScript files, by their paths from the repository's root.
 *
 * @param {string} folder
 */
export const listFiles = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .toSorted();
