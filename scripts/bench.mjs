/**
 * `npm run bench:<name>` installs and builds everything that the benchmark `test/bench/<name>` needs, then runs the
 * benchmark with the remaining arguments. See `--help`.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { buildStale, root, run } from './lib/run.mjs';

/**
 * `competitors` is the download size of the packages that the benchmark compares Trueward with. The project itself does
 * not depend on them.
 *
 * @type {Record<string, { build?: boolean, browser?: boolean, competitors?: string, omitOptional?: boolean, help?: string }>}
 */
const benchmarks = {
  dispatch: { build: true, competitors: '30 MB' },
  'first-paint': {
    build: true,
    browser: true,
    help: 'npm run bench:first-paint [-- ROUNDS]   20 rounds by default, about a minute',
  },
  frames: {
    browser: true,
    help: `npm run bench:frames [-- --peer <folder>]

Takes about 3 minutes. Slow frames do not fail the run.

  --peer <folder>  compare with this checkout of github.com/poki/phaser-plugin`,
  },
  outbox: { browser: true, competitors: '160 MB', omitOptional: true },
};

const [name = ''] = process.argv.splice(2, 1);
const benchmark = benchmarks[name];
const isHelp = process.argv.includes('--help');
try {
  if (benchmark === undefined)
    throw new Error(
      `Unknown benchmark “${name}”; expected one of ${Object.keys(benchmarks).join(', ')}.`,
    );
  if (isHelp && benchmark.help !== undefined) console.log(benchmark.help);
  else await start(benchmark);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @param {typeof benchmarks[string]} benchmark */
async function start({ build, browser, competitors, omitOptional = false }) {
  const folder = join(root, 'test', 'bench', name);
  await ensureInstall();
  if (!isHelp) {
    if (competitors !== undefined) await installCompetitors(folder, competitors, omitOptional);
    if (build) await buildStale();
    if (browser) {
      // Imported dynamically, because it needs installed packages.
      const { ensureChromium } = await import('./lib/find-chromium.mjs');
      process.env.CHROMIUM_PATH = await ensureChromium();
    }
  }
  const peer = process.argv.indexOf('--peer');
  if (peer > 0) process.env.TRUEWARD_BENCH_PEER = resolve(process.argv[peer + 1] ?? '');
  const { register } = await import('tsx/esm/api');
  register();
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
