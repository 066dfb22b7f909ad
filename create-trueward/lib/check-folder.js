import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Windows opens a device instead of a file with one of these names, whatever follows a dot. */
const devicePattern = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)/i;

/** What file systems accept in a name, in bytes. Windows and macOS count characters, which are fewer. */
const maxBytes = 255;

/**
 * Returns why a name can't be that of a folder on every system, or undefined if it can. On Windows, Node makes some folders
 * that no other program can open or delete. Elsewhere, npm finds no programs in a path with a colon.
 *
 * @param {string} name
 * @returns {string | undefined}
 */
export function findNameProblem(name) {
  if (devicePattern.test(name)) return 'is the name of a device on Windows';
  const [character] = /[<>:"/\\|?*\p{Cc}\p{Cs}]/u.exec(name) ?? [];
  if (character !== undefined) return `contains ${JSON.stringify(character)}`;
  if (/[. ]$/.test(name)) return 'ends with a dot or a space';
  if (Buffer.byteLength(name) > maxBytes) return `is longer than ${maxBytes} bytes`;
  return undefined;
}

/**
 * Checks that a game can be created in a folder: it is new or empty, and every system accepts the names of those folders in
 * its path that don't exist yet.
 *
 * @param {string} directory An absolute path.
 * @throws Error that says what to choose instead.
 */
export function checkFolder(directory) {
  if (existsSync(directory)) {
    const isEmpty = statSync(directory).isDirectory() && readdirSync(directory).length === 0;
    if (isEmpty) return;
    throw new Error(
      `${directory} is not an empty folder. Choose a new folder: npm create trueward my-game`,
    );
  }
  for (let path = directory; !existsSync(path) && path !== dirname(path); path = dirname(path)) {
    const name = basename(path);
    const problem = findNameProblem(name);
    if (problem !== undefined)
      throw new Error(
        `The folder’s name ${JSON.stringify(name)} ${problem}. Choose a name that works on every system: npm create trueward my-game`,
      );
  }
}
