import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, seconds } from './run.mjs';

/**
 * Installs the packages of package-lock.json unless exactly these are there.
 *
 * @throws when npm cannot install them.
 */
export async function ensureInstall() {
  if (isInstalled()) return;
  console.log('Installing packages with `npm ci` (a minute or two on a first run) …');
  const startedAt = performance.now();
  // npm draws its progress on terminals only.
  const tick = setInterval(() => {
    console.log(`  still installing, ${seconds(performance.now() - startedAt)}`);
  }, 10_000);
  const { code } = await run(['npm', 'ci', '--no-audit', '--no-fund'], { show: true });
  clearInterval(tick);
  if (code === 0) return;
  throw new Error(
    `\`npm ci\` failed with exit code ${code}; its message is above. Check the network, then try again.`,
  );
}

/** npm keeps what it installed in a hidden lockfile; packages for other platforms are not in it. */
function isInstalled() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(hidden);
  return Object.entries(wanted).every(
    ([path, { version, optional, link }]) =>
      !path.includes('node_modules/') ||
      optional === true ||
      link === true ||
      installed[path]?.version === version,
  );
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }>}
 */
function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}
