import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Copies a template's files into a folder. On Windows, `cpSync()` of Node 22 and 24.14 ends the program without a word, or
 * copies nothing, if a path has an accent (https://github.com/nodejs/node/issues/61878).
 *
 * @param {string} template
 * @param {string} folder
 */
export function copyTemplate(template, folder) {
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(template, { withFileTypes: true })) {
    const copy = entry.isDirectory() ? copyTemplate : copyFileSync;
    // npm excludes files named `.gitignore` from packages.
    const name = entry.name === 'gitignore' ? '.gitignore' : entry.name;
    copy(join(template, entry.name), join(folder, name));
  }
}
