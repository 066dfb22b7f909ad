/**
 * `npm run bench:<name>` reads the options of the benchmark `test/bench/<name>`, installs and builds everything that it
 * needs, then runs it.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { buildStale, root, run } from './lib/run.mjs';

/**
 * `competitors` is the download size of the packages that the benchmark compares Trueward with. The project itself does
 * not depend on them.
 *
 * @type {Record<string, { build?: boolean, browser?: boolean, competitors?: string, omitOptional?: boolean }>}
 */
const benchmarks = {
  dispatch: { build: true, competitors: '30 MB' },
  'first-paint': { build: true, browser: true },
  frames: { browser: true },
  outbox: { browser: true, competitors: '160 MB', omitOptional: true },
};

const [name = ''] = process.argv.splice(2, 1);
const benchmark = benchmarks[name];
try {
  if (benchmark === undefined)
    throw new Error(
      `Unknown benchmark “${name}”; expected one of ${Object.keys(benchmarks).join(', ')}.`,
    );
  await start(benchmark);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @param {typeof benchmarks[string]} benchmark */
async function start({ build, browser, competitors, omitOptional = false }) {
  const folder = join(root, 'test', 'bench', name);
  await ensureInstall();
  const { register } = await import('tsx/esm/api');
  register();
  // Reads the options, and ends here if one is invalid.
  await import(join(folder, 'command-line.ts'));
  if (competitors !== undefined) await installCompetitors(folder, competitors, omitOptional);
  if (build) await buildStale();
  if (browser) {
    // Imported dynamically, because it needs installed packages.
    const { ensureChromium } = await import('./lib/find-chromium.mjs');
    process.env.CHROMIUM_PATH = await ensureChromium();
  }
  await import(join(folder, 'main.ts'));
}

/**
 * @param {string} folder
 * @param {string} size
 * @param {boolean} omitOptional
 */
async function installCompetitors(folder, size, omitOptional) {
  const lock = join(folder, 'package-lock.json');
  const installedLockfile = join(folder, 'node_modules', '.package-lock.json');
  if (
    existsSync(installedLockfile) &&
    statSync(installedLockfile).mtimeMs >= statSync(lock).mtimeMs
  )
    return;
  console.log(`Installing the packages that Trueward is compared with (about ${size}) …`);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund'];
  if (omitOptional) options.push('--omit=optional');
  const { code } = await run(['npm', 'ci', '--prefix', folder, ...options], { show: true });
  if (code !== 0) throw new Error(`\`npm ci\` in ${folder} failed; see the output above.`);
}
