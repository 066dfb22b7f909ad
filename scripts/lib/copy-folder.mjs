import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies a folder's files into another folder. On Windows, `cpSync()` of Node 22 and 24.14 ends the program without a word,
 * or copies nothing, if a path has an accent (https://github.com/nodejs/node/issues/61878).
 *
 * @param {string} from
 * @param {string} to
 */
export function copyFolder(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const copy = entry.isDirectory() ? copyFolder : copyFileSync;
    copy(join(from, entry.name), join(to, entry.name));
  }
}
