import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, tool } from './run.mjs';

/** Chromium without its user interface, which opens and closes pages with half of the CPU time. */
const headlessShell = 'chromium-headless-shell';
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const usualPaths = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'].map((variable) =>
    join(process.env[variable] ?? '', 'Google', 'Chrome', 'Application', 'chrome.exe'),
  ),
};

/**
 * Returns the path to Chromium's headless shell if it is installed or can be installed.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findHeadlessShell() {
  return findInstalled([headlessShell]) ?? (await installOnDebian(headlessShell));
}

/**
 * Returns the path to Chromium or Chrome, and installs Chromium if neither is found. Playwright itself finds only
 * browsers that it has downloaded.
 *
 * @returns {Promise<string>}
 * @throws when neither is found and the installation fails. The message contains instructions.
 */
export async function ensureChromium() {
  const chromium = readConfiguredPath() ?? findInstalled(names) ?? (await findDownloaded());
  if (chromium !== undefined) return chromium;
  // Tries Debian's package first, because Playwright retries for minutes when its download server is unreachable.
  const path = (await installOnDebian('chromium')) ?? (await downloadWithPlaywright());
  if (path !== undefined) return path;
  throw new Error(
    'Chromium or Chrome is needed. Neither was found, and Chromium could not be installed. ' +
      'Install one of them, or set CHROMIUM_PATH to the path of its executable.',
  );
}

function readConfiguredPath() {
  const path = process.env.CHROMIUM_PATH;
  if (!path) return undefined;
  if (existsSync(path)) return path;
  throw new Error(
    `CHROMIUM_PATH is ${JSON.stringify(path)}, which does not exist. Set it to the path of a ` +
      'Chromium or Chrome executable, or unset it to use an installed browser.',
  );
}

/** @param {string[]} programs */
function findInstalled(programs) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const pathCandidates = folders.flatMap((folder) => programs.map((name) => join(folder, name)));
  const isUsual = programs === names && process.platform in usualPaths;
  const usualPath = isUsual ? usualPaths[/** @type {'darwin'} */ (process.platform)] : [];
  return [...(process.platform === 'win32' ? [] : pathCandidates), ...usualPath].find((path) =>
    existsSync(path),
  );
}

async function findDownloaded() {
  const { chromium } = await import('playwright');
  const path = chromium.executablePath();
  return existsSync(path) ? path : undefined;
}

async function downloadWithPlaywright() {
  console.log('Chromium was not found. Downloading it with Playwright …');
  const { code } = await run([...tool('playwright'), 'install', 'chromium'], { show: true });
  return code === 0 ? findDownloaded() : undefined;
}

/**
 * Returns undefined where there is no package manager, no permission to use it, or no network.
 *
 * @param {string} debianPackage
 */
async function installOnDebian(debianPackage) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  console.log(`Installing Debian’s ${debianPackage} package (this takes about a minute) …`);
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = ['apt-get', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10'];
  const commands = [
    [...apt, 'update'],
    [...apt, 'install', '--yes', '--no-install-recommends', debianPackage],
  ];
  for (const command of commands) {
    const { code, output } = await run(command, { env });
    if (code === 0) continue;
    console.log(`\`${command.join(' ')}\` failed with exit code ${code}:\n${output.trimEnd()}`);
    return undefined;
  }
  return findInstalled([debianPackage]);
}
