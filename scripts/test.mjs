/**
 * `npm test` and `npm run test:full` install missing packages, find or install Chromium, build outdated parts, and run
 * all checks and tests. The last line is `N passed, N failed`. See `--help`.
 */
import { ensureInstall } from './lib/ensure-install.mjs';

const help = `npm test, npm run test:full [-- <Vitest arguments>]

Installs missing packages, builds outdated parts, and runs all checks and all tests.

With arguments, runs only the selected tests, and no checks:
  npm test -- --project unit
  npm test -- --project browser overlay

test:full adds slow tests, and repeats some tests with other versions or states:
  - the test files named *.full.test.ts
  - tests and table rows that depend on inject('full')
  - the build of the documentation site
  - attw, which checks that the package's types resolve in every module resolution
    mode

Environment: CHROMIUM_PATH is the path of the browser's executable. By default, an
installed Chromium or Chrome is used. If there is none, Chromium is installed.
HEADLESS_SHELL_PATH is the path of Chromium's headless shell, with which most tests take
half of the CPU time. By default, it is installed on Debian if you are root; without it,
all tests use Chromium.`;

const args = process.argv.slice(2);
const isFull = args.includes('--full');
const vitestArguments = args.filter((argument) => argument !== '--full');
if (vitestArguments.includes('--help')) {
  console.log(help);
  process.exit();
}

/** @typedef {{ passed: number, failed: number, skipped?: number }} Tally */

try {
  await ensureInstall();
  report(await buildAndTest());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  report([{ passed: 0, failed: 1 }]);
}

/** @returns {Promise<Tally[]>} */
async function buildAndTest() {
  // Imported dynamically, because it needs the packages that `ensureInstall()` installs.
  const { ensureChromium, findHeadlessShell } = await import('./lib/find-chromium.mjs');
  const { run } = await import('./lib/run.mjs');
  const chromium = await ensureChromium();
  const headlessShell = process.env.HEADLESS_SHELL_PATH ?? (await findHeadlessShell()) ?? chromium;
  console.log(`Node ${process.version}, browsers ${chromium} and ${headlessShell}`);
  const build = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
  if (build.code !== 0) return [{ passed: 0, failed: 1 }];
  const tallies = vitestArguments.length > 0 ? [] : [await runChecks()];
  return [
    ...tallies,
    await runVitest({ CHROMIUM_PATH: chromium, HEADLESS_SHELL_PATH: headlessShell }),
  ];
}

async function runChecks() {
  const { checks } = await import('./lib/checks.mjs');
  const { runSteps } = await import('./lib/run-steps.mjs');
  const { formatDuration } = await import('./lib/run.mjs');
  console.log('Checking …');
  const startedAt = performance.now();
  const tally = await runSteps(checks({ full: isFull }), { concurrency: 2 });
  const duration = formatDuration(performance.now() - startedAt);
  console.log(`Checks: ${tally.passed} passed, ${tally.failed} failed (${duration})`);
  return tally;
}

/**
 * @param {Record<string, string>} browserPaths
 * @returns {Promise<Tally>}
 */
async function runVitest(browserPaths) {
  const { run, tool } = await import('./lib/run.mjs');
  const { deleteTestReport, readTestReport } = await import('./lib/test-report.mjs');
  deleteTestReport();
  const reporters = ['--reporter=default', '--reporter=./scripts/lib/test-report.mjs'];
  const { code } = await run([...tool('vitest'), 'run', ...reporters, ...vitestArguments], {
    env: { ...browserPaths, TRUEWARD_TEST_FULL: isFull ? '1' : '' },
    show: true,
  });
  const tally = readTestReport()?.tally ?? { passed: 0, failed: 0, skipped: 0 };
  // Vitest can also fail outside a test: because of an unhandled rejection or invalid arguments, or if it finds no
  // tests.
  if (tally.failed === 0 && (code !== 0 || tally.passed === 0)) return { ...tally, failed: 1 };
  return tally;
}

/** @param {Tally[]} tallies */
function report(tallies) {
  const sum = (/** @type {keyof Tally} */ key) =>
    tallies.reduce((total, tally) => total + (tally[key] ?? 0), 0);
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')];
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
