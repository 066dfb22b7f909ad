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
 * Writes the game into a new or empty folder.
 *
 * @param {string} directory
 * @param {import('./dev-file.js').Service} [service] If omitted, the developer fills in the keys.
 * @throws Error if the folder is not empty.
 */
export function makeProject(directory, service) {
  if (existsSync(directory) && readdirSync(directory).length > 0) {
    throw new Error(`${directory} is not empty. Choose a new folder: npm create trueward my-game`);
  }
  mkdirSync(directory, { recursive: true });
  cpSync(template, directory, { recursive: true });
  // npm excludes files named `.gitignore` from packages.
  renameSync(join(directory, 'gitignore'), join(directory, '.gitignore'));
  const manifest = join(directory, 'package.json');
  const { name: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
  const text = JSON.stringify({ name: toPackageName(basename(directory)), ...rest }, null, 2);
  writeFileSync(manifest, `${text}\n`);
  // The file contains the secret key, so only its owner may read it.
  writeFileSync(join(directory, '.env'), formatEnvFile(service), { mode: 0o600 });
}

/**
 * Converts a folder's name into a valid npm package name.
 *
 * @param {string} folder
 */
function toPackageName(folder) {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '');
  return name || 'trueward-game';
}

/** @param {import('./dev-file.js').Service} [service] */
function formatEnvFile(
  { serviceUrl, publishableKey, secretKey } = { serviceUrl: '', publishableKey: '', secretKey: '' },
) {
  return `# The ad service's URL and your keys. Don't commit this file.
SERVICE_URL=${serviceUrl}
# pk_sandbox_…: sent to the browser.
PUBLISHABLE_KEY=${publishableKey}
# sk_sandbox_…: server only. The server uses it to register its webhook.
SECRET_KEY=${secretKey}
`;
}
