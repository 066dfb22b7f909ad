import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, formatDuration } from './run.mjs';

/**
 * Installs the packages in package-lock.json, unless exactly these versions are already installed.
 *
 * @throws when `npm ci` fails.
 */
export async function ensureInstall() {
  if (isInstalled()) return;
  console.log('Installing packages with `npm ci` (this takes a minute or two on the first run) …');
  const startedAt = performance.now();
  // npm shows progress only in a terminal.
  const progress = setInterval(() => {
    console.log(`  still installing, ${formatDuration(performance.now() - startedAt)}`);
  }, 10_000);
  // Builds and tests need the development packages, which npm omits if NODE_ENV is `production`.
  const options = ['--include=dev', '--no-audit', '--no-fund'];
  const { code } = await run(['npm', 'ci', ...options], { show: true });
  clearInterval(progress);
  if (code === 0) return;
  throw new Error(
    `\`npm ci\` failed with exit code ${code}; see the output above. Check the network and run the command again.`,
  );
}

/** Reads npm's hidden lockfile, which lists the installed packages. Packages for other platforms are not in it. */
function isInstalled() {
  const hiddenLockfile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hiddenLockfile)) return false;
  const lockedPackages = readPackages(join(root, 'package-lock.json'));
  const installedPackages = readPackages(hiddenLockfile);
  return Object.entries(lockedPackages).every(
    ([path, { version, optional, link }]) =>
      !path.includes('node_modules/') ||
      optional === true ||
      link === true ||
      installedPackages[path]?.version === version,
  );
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, optional?: boolean, link?: boolean }>}
 */
function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}
