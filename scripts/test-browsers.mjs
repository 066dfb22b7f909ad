/**
 * `npm run test:browsers` runs the component and ad-break tests in Firefox and WebKit. See `--help`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { buildStale, root, run, tool } from './lib/run.mjs';
import { startSilentSound } from './lib/silent-sound.mjs';

const help = `npm run test:browsers [-- firefox|webkit] [-- <Vitest arguments>]
npm run test:browsers -- pages

Runs test/browser in Firefox and in WebKit (WebKitGTK, based on Safari's engine), or in one of
them; \`npm test\` runs it in Chromium. Ends with a line for each browser: \`N passed, N failed, N skipped\`.
The browsers must be installed:
  apt-get install --no-install-recommends firefox-esr pulseaudio
  apt-get install --no-install-recommends webkit2gtk-driver libwebkit2gtk-4.1-0 \\
    gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav xvfb xauth

With \`pages\`, runs test/e2e/true-rewards in Firefox (complete pages with the real service), and
test/e2e/break/lazy-files.

Tests that need a sound device are skipped, with a message, unless pulseaudio is installed.

Environment: FIREFOX_PATH and WEBKIT_PATH (MiniBrowser) are the paths of the browsers' executables.`;

const folder = join(root, 'test', 'browsers');
const browsers = [
  {
    name: 'firefox',
    path: process.env.FIREFOX_PATH || findInPath('firefox-esr') || findInPath('firefox'),
    programs: /** @type {string[]} */ ([]),
    /** Tests to skip if there is no audio device, with the reason for each. */
    skippedWithoutSound: {
      'resumes audio that the device interrupted during the ad':
        'audio contexts stay suspended without an audio device, and pulseaudio is not installed',
    },
    env: { NODE_OPTIONS: `--import ${join(folder, 'use-older-playwright.mjs')}` },
  },
  {
    name: 'webkit',
    path: process.env.WEBKIT_PATH || '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
    programs: ['WebKitWebDriver', 'xvfb-run'],
    // Disables PulseAudio. With PulseAudio, a video that is paused while starting doesn't always resume.
    env: { GST_PLUGIN_FEATURE_RANK: 'alsasink:NONE,pulsesink:NONE' },
  },
];

const args = process.argv.slice(2);
if (args.includes('--help')) {
  console.log(help);
  process.exit();
}
const isPagesRun = args.includes('pages');
const browserArguments = isPagesRun ? ['firefox'] : args;
const names = browsers.map(({ name }) => name).filter((name) => browserArguments.includes(name));
const vitestArguments = args.filter((argument) => ![...names, 'pages'].includes(argument));
await ensureInstall();
await ensurePlaywright();
// These tests use the built SDK and service.
if (isPagesRun) await buildStale();
const results = [];
for (const browser of browsers)
  if (names.length === 0 || names.includes(browser.name))
    results.push(`${browser.name}: ${await runTests(browser)}`);
console.log(results.join('\n'));

/**
 * Runs the tests in a browser, and returns the result in words.
 *
 * @param {typeof browsers[number]} browser
 */
async function runTests({ name, programs, env, path = '', skippedWithoutSound }) {
  const missingPrograms = programs.filter((program) => findInPath(program) === undefined);
  if (!existsSync(path)) missingPrograms.unshift(path || name);
  if (missingPrograms.length > 0) {
    console.error(`Skipped ${name}: ${missingPrograms.join(', ')} is not installed. See --help.`);
    process.exitCode = 1;
    return 'not installed';
  }
  const sound =
    skippedWithoutSound && findInPath('pulseaudio') ? await startSilentSound() : undefined;
  const skippedTests = sound ? {} : (skippedWithoutSound ?? {});
  for (const [test, reason] of Object.entries(skippedTests))
    console.log(`Skipped in ${name}: “${test}”, because ${reason}.`);
  const config = join(folder, isPagesRun ? 'pages.config.ts' : 'vitest.config.ts');
  const report = join(mkdtempSync(join(tmpdir(), 'trueward-browsers-')), 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const command = [...tool('vitest'), 'run', '--config', config, ...reporters, ...vitestArguments];
  const { code } = await run(command, {
    env: {
      BROWSER_NAME: name,
      BROWSER_PATH: path,
      BROWSER_SKIPPED_TESTS: JSON.stringify(skippedTests),
      ...env,
      ...sound?.env,
    },
    show: true,
  });
  sound?.stop();
  if (code !== 0) process.exitCode = 1;
  const result = describeReport(report);
  rmSync(dirname(report), { recursive: true });
  return result;
}

/**
 * Returns the numbers in Vitest's report.
 *
 * @param {string} path
 */
function describeReport(path) {
  if (!existsSync(path)) return 'the tests did not start';
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = report;
  const failed = numFailedTests || numFailedTestSuites;
  return `${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped`;
}

/** @param {string} program */
function findInPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((path) => join(path, program)).find((path) => existsSync(path));
}

/** Installs the Playwright version that can control Firefox. Only this script needs it. */
async function ensurePlaywright() {
  if (existsSync(join(folder, 'node_modules', 'playwright'))) return;
  const command = ['npm', 'ci', '--prefix', folder, '--omit=optional', '--ignore-scripts'];
  const { code } = await run([...command, '--no-audit', '--no-fund'], { show: true });
  if (code !== 0) throw new Error(`\`npm ci\` in ${folder} failed; see the output above.`);
}
