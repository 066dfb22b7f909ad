import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkFolder } from './check-folder.js';
import { copyTemplate } from './copy-template.js';

const templates = join(import.meta.dirname, '..', 'templates');

/**
 * Writes the game into a new or empty folder.
 *
 * @param {string} directory
 * @param {boolean} hasServer Whether the game has its own server. If not, the ad service keeps what players earn.
 * @param {import('./dev-file.js').Service} [service] If omitted, the developer fills in the keys.
 * @throws Error if the folder is not empty, or has a name that some systems forbid.
 */
export function makeProject(directory, hasServer, service) {
  checkFolder(directory);
  copyTemplate(join(templates, hasServer ? 'with-server' : 'without-server'), directory);
  const manifest = join(directory, 'package.json');
  const { name: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
  const text = JSON.stringify({ name: toPackageName(basename(directory)), ...rest }, null, 2);
  writeFileSync(manifest, `${text}\n`);
  const envFile = join(directory, '.env');
  // The secret key may be read only by the file's owner. Without a server, nothing in the file is secret.
  if (hasServer) writeFileSync(envFile, formatServerEnvFile(service), { mode: 0o600 });
  else writeFileSync(envFile, formatPageEnvFile(service));
}

/** Names that npm forbids. */
const forbiddenNames = ['', 'node_modules', 'favicon.ico'];
/** The longest name that npm accepts. */
const maxNameLength = 214;

/**
 * Converts a folder's name into a valid npm package name. Accents are dropped, however they are spelled in Unicode.
 *
 * @param {string} folder
 */
export function toPackageName(folder) {
  const name = folder
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
    .slice(0, maxNameLength);
  return forbiddenNames.includes(name) ? 'trueward-game' : name;
}

const noService = { serviceUrl: '', publishableKey: '', secretKey: '' };

/** @param {import('./dev-file.js').Service} [service] */
function formatServerEnvFile({ serviceUrl, publishableKey, secretKey } = noService) {
  return `# The ad service's URL and your keys. Don't commit this file.
SERVICE_URL=${serviceUrl}
# pk_sandbox_…: sent to the browser.
PUBLISHABLE_KEY=${publishableKey}
# sk_sandbox_…: server only. The server uses it to register its webhook.
SECRET_KEY=${secretKey}
`;
}

/** @param {import('./dev-file.js').Service} [service] */
function formatPageEnvFile({ serviceUrl, publishableKey } = noService) {
  return `# The ad service's URL and your publishable key, pk_sandbox_…. Both are part of the built game, and not secret.
VITE_SERVICE_URL=${serviceUrl}
VITE_PUBLISHABLE_KEY=${publishableKey}
`;
}
