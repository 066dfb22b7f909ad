import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The ad service that a game connects to.
 *
 * @typedef {{ serviceUrl: string, publishableKey: string, secretKey: string }} Service
 */

/**
 * Finds the dev file, which contains a local service's URL and keys. Looks in this folder, then in its parent folders.
 *
 * @param {string} folder
 * @returns {string | undefined}
 */
export function findDevFile(folder) {
  const file = join(folder, '.trueward', 'dev.json');
  if (existsSync(file)) return file;
  return dirname(folder) === folder ? undefined : findDevFile(dirname(folder));
}

/**
 * @param {string} file
 * @returns {Service}
 * @throws Error that says what the file should contain.
 */
export function readDevFile(file) {
  if (!existsSync(file)) {
    throw new Error(
      `${file} does not exist. Run \`npm start\` in Trueward’s repository first to create it.`,
    );
  }
  const { keys, serviceUrl } = parse(file);
  const { publishable: publishableKey, secret: secretKey } = keys?.sandbox ?? {};
  if (![serviceUrl, publishableKey, secretKey].every((value) => typeof value === 'string')) {
    throw new Error(
      `${file} is missing serviceUrl or keys.sandbox. Pass the file that \`npm start\` writes in ` +
        'Trueward’s repository.',
    );
  }
  return { serviceUrl, publishableKey, secretKey };
}

/** @param {string} file */
function parse(file) {
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new Error(`${file} is not JSON.`, { cause });
  }
}
