/**
 * `npm run test:browsers`: the component and ad-break tests in Firefox and WebKit. See `--help`.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureInstall } from './lib/ensure-install.mjs';
import { root, run, tool } from './lib/run.mjs';
import { startSilentSound } from './lib/silent-sound.mjs';

const help = `npm run test:browsers [-- firefox|webkit] [-- arguments of vitest]
npm run test:browsers -- pages

Runs test/browser in Firefox and in WebKit (WebKitGTK, the engine of Safari), or in one
of them, beside what \`npm test\` runs in Chromium. They have to be there:
  apt-get install --no-install-recommends firefox-esr pulseaudio
  apt-get install --no-install-recommends webkit2gtk-driver libwebkit2gtk-4.1-0 \\
    gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav xvfb xauth

With \`pages\`: test/e2e/true-rewards, whole pages with the real service, in Firefox only.

Without pulseaudio there is no sound device; what needs one is left out, and that is said.

Environment: FIREFOX_PATH and WEBKIT_PATH (MiniBrowser) are their executables.`;

const folder = join(root, 'test', 'browsers');
const browsers = [
  {
    name: 'firefox',
    path: process.env.FIREFOX_PATH || inPath('firefox-esr') || inPath('firefox'),
    needs: /** @type {string[]} */ ([]),
    /** Tests that cannot be run without a sound device, and why. */
    withoutSound: {
      'wakes the sound that the device interrupted during the ad':
        'audio contexts stay suspended without a sound device, and pulseaudio is not installed',
    },
    env: { NODE_OPTIONS: `--import ${join(folder, 'use-older-playwright.mjs')}` },
  },
  {
    name: 'webkit',
    path: process.env.WEBKIT_PATH || '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
    needs: ['WebKitWebDriver', 'xvfb-run'],
    // With PulseAudio, a video that is paused as it begins to play does not always go on.
    env: { GST_PLUGIN_FEATURE_RANK: 'alsasink:NONE,pulsesink:NONE' },
  },
];

const given = process.argv.slice(2);
if (given.includes('--help')) {
  console.log(help);
  process.exit();
}
const pages = given.includes('pages');
const named = pages ? ['firefox'] : given;
const names = browsers.map(({ name }) => name).filter((name) => named.includes(name));
const vitestArguments = given.filter((argument) => ![...names, 'pages'].includes(argument));
await ensureInstall();
await ensurePlaywright();
if (pages) await build();
for (const browser of browsers)
  if (names.length === 0 || names.includes(browser.name)) await test(browser);

/** @param {typeof browsers[number]} browser */
async function test({ name, needs, env, path = '', withoutSound }) {
  const missing = needs.filter((program) => inPath(program) === undefined);
  if (!existsSync(path)) missing.unshift(path || name);
  if (missing.length > 0) {
    console.error(`Not run in ${name}: ${missing.join(', ')} is missing. See --help.`);
    process.exitCode = 1;
    return;
  }
  const sound = withoutSound && inPath('pulseaudio') ? await startSilentSound() : undefined;
  const leftOut = sound ? {} : (withoutSound ?? {});
  for (const [test, reason] of Object.entries(leftOut))
    console.log(`Left out in ${name}: “${test}”, because ${reason}.`);
  const config = join(folder, pages ? 'pages.config.ts' : 'vitest.config.ts');
  const command = [...tool('vitest'), 'run', '--config', config, ...vitestArguments];
  const { code } = await run(command, {
    env: {
      BROWSER_NAME: name,
      BROWSER_PATH: path,
      BROWSER_LEFT_OUT: JSON.stringify(leftOut),
      ...env,
      ...sound?.env,
    },
    show: true,
  });
  sound?.end();
  if (code !== 0) process.exitCode = 1;
}

/** @param {string} program */
function inPath(program) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((path) => join(path, program)).find((path) => existsSync(path));
}

/** Whole pages take the SDK and the service as they are built. */
async function build() {
  const { code } = await run([process.execPath, 'scripts/build.mjs', '--stale'], { show: true });
  if (code !== 0) throw new Error('The build failed; its message is above.');
}

/** What drives Firefox is no part of the project's own install: only this needs it. */
async function ensurePlaywright() {
  if (existsSync(join(folder, 'node_modules', 'playwright'))) return;
  const command = ['npm', 'ci', '--prefix', folder, '--omit=optional', '--ignore-scripts'];
  const { code } = await run([...command, '--no-audit', '--no-fund'], { show: true });
  if (code !== 0) throw new Error(`\`npm ci\` in ${folder} failed; its message is above.`);
}
