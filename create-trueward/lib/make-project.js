import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const template = join(import.meta.dirname, '..', 'template');

/**
 * Writes the game into a folder that is new or empty.
 *
 * @param {string} directory
 * @param {import('./dev-file.js').Service} [service] Absent: the developer fills in the keys.
 * @throws Error when there is something in the folder.
 */
export function makeProject(directory, service) {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new Error(`${directory} is not empty. Name a new folder: npm create trueward my-game`);
  }
  mkdirSync(directory, { recursive: true });
  cpSync(template, directory, { recursive: true });
  // npm leaves a file of this name out of packages.
  renameSync(join(directory, 'gitignore'), join(directory, '.gitignore'));
  const manifest = join(directory, 'package.json');
  const { name: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
  const text = JSON.stringify({ name: packageName(basename(directory)), ...rest }, null, 2);
  writeFileSync(manifest, `${text}\n`);
  // Secret keys are for the owner of the file only.
  writeFileSync(join(directory, '.env'), environment(service), { mode: 0o600 });
}

/**
 * A name that npm takes, as near to the folder's as can be.
 *
 * @param {string} folder
 */
function packageName(folder) {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '');
  return name || 'trueward-game';
}

/** @param {import('./dev-file.js').Service} [service] */
function environment(
  { serviceUrl, publishableKey, secretKey } = { serviceUrl: '', publishableKey: '', secretKey: '' },
) {
  return `# Where the ad service is, and your keys for it. This file is not for git.
SERVICE_URL=${serviceUrl}
# pk_sandbox_…: goes to the browser.
PUBLISHABLE_KEY=${publishableKey}
# sk_sandbox_…: stays on the server, which registers its webhook with it.
SECRET_KEY=${secretKey}
`;
}
