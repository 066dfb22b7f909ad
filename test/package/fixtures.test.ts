import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build, type BuildOptions } from 'esbuild';
import type { Browser, Page } from 'playwright';
import { expect, inject } from 'vitest';
import { closeAd, launchBrowser } from '../e2e/browser.ts';
import { countLeaks } from './count-leaks.ts';
import { type FixtureSite, startFixtureSite } from './fixture-site.ts';
import type { InstalledPackage } from './installed-package.ts';
import { it } from './worker.ts';

const root = join(import.meta.dirname, '..', '..');
/** Whether to include the slow bundlers, which take seconds. `npm test` skips them. */
const isFullRun = inject('full');
let installedPackage: InstalledPackage;
let site: FixtureSite;
let browser: Browser;
let page: Page;
let problems: string[];

it.beforeAll(async ({ installedPackage: sharedPackage }) => {
  installedPackage = sharedPackage;
  [site, browser] = await Promise.all([
    startFixtureSite(installedPackage.project),
    launchBrowser(),
  ]);
});
it.beforeEach(async () => {
  page = await browser.newPage();
  problems = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
});
it.afterEach(() => page.close());
it.afterAll(async () => {
  await browser?.close();
  await site?.stop();
});

/** Creates a page for a bundle that has no page of its own. */
function createPage(script: string, type = 'module'): string {
  const name = `${script.replaceAll('/', '-')}.html`;
  const html = `<!doctype html><link rel="icon" href="data:,"><button id="play">Play</button>
    <output id="outcome"></output><script type="${type}" src="${script}"></script>`;
  writeFileSync(join(installedPackage.project, name), html);
  return name;
}

const splitOptions: BuildOptions = { format: 'esm', splitting: true };

function runEsbuild(options: BuildOptions): Promise<unknown> {
  return build({
    absWorkingDir: installedPackage.project,
    bundle: true,
    logLevel: 'error',
    ...options,
  });
}

/** Starts the ad with a click, and closes it. */
async function playAd(
  closeLabel: string,
  play = () => page.locator('#play').click(),
): Promise<void> {
  await play();
  const close = page.getByRole('button', { name: closeLabel }).first();
  await close.waitFor();
  await closeAd(page, close);
  await page.locator('#outcome', { hasText: 'completed' }).waitFor();
  expect(problems).toEqual([]);
}

const bundles = {
  'an import map and no bundler': () => 'import-map/index.html',
  async 'esbuild, in one classic script'() {
    await runEsbuild({ entryPoints: ['game/main.js'], outfile: 'game/esbuild-one.js' });
    return createPage('game/esbuild-one.js', 'text/javascript');
  },
};
const slowBundles = {
  Vite() {
    installedPackage.runTool(
      'vite/bin/vite.js',
      'build',
      'game',
      '--logLevel',
      'warn',
      '--base',
      './',
    );
    return 'game/dist/index.html';
  },
  webpack() {
    installedPackage.runTool('tsx/dist/cli.mjs', 'game/webpack.mjs');
    return createPage('game/webpack/main.js', 'text/javascript');
  },
  async 'esbuild, split into chunks'() {
    await runEsbuild({ entryPoints: ['game/main.js'], outdir: 'game/esbuild', ...splitOptions });
    return createPage('game/esbuild/main.js');
  },
};

it.each(Object.entries({ ...bundles, ...(isFullRun ? slowBundles : {}) }))(
  'a game built with %s shows an ad',
  async (_name, bundle) => {
    await page.goto(site.createUrl(await bundle()));
    await playAd('Werbung schließen');
  },
);

it('a React game in StrictMode leaves nothing behind on the page when it unmounts', async () => {
  await runEsbuild({
    entryPoints: ['react/main.js'],
    outdir: 'react/bundle',
    define: { 'process.env.NODE_ENV': '"development"' },
    ...splitOptions,
  });
  await page.addInitScript(countLeaks);
  await page.goto(site.createUrl('react/index.html'));
  await page.locator('#play').waitFor();
  expect(await page.evaluate(() => window.createAdsCalls)).toBe(2);
  await playAd('Close ad');
  // Proves that timers and listeners are tracked.
  expect(await page.evaluate(() => window.listLeaks())).not.toEqual([]);
  await page.locator('#unmount').click();
  await page.locator('#play').waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(() => window.listLeaks())).toEqual([]);
  expect(await page.locator('body > *').count()).toBe(3);
});

it.runIf(isFullRun)('Phaser’s official Vite template builds and shows an ad', async () => {
  installedPackage.runTool('typescript/bin/tsc', '-p', 'phaser-template');
  installedPackage.runTool(
    'vite/bin/vite.js',
    'build',
    'phaser-template',
    '--config',
    'phaser-template/vite/config.prod.mjs',
  );
  await page.goto(site.createUrl('phaser-template/dist/index.html'));
  await playPhaserAd();
});

it.runIf(isFullRun)('Phaser’s official Vite template shows an ad on the dev server', async () => {
  const server = spawn(
    process.execPath,
    [join(root, 'node_modules/vite/bin/vite.js'), '--config', 'vite/config.dev.mjs'],
    {
      cwd: join(installedPackage.project, 'phaser-template'),
      stdio: ['ignore', 'pipe', 'inherit'],
      // If CI is set, Vite prints the port in bold.
      env: { ...process.env, NO_COLOR: '1' },
    },
  );
  try {
    await page.goto(`${await waitForUrl(server)}?${site.query}`);
    await playPhaserAd();
  } finally {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  }
});

async function playPhaserAd(): Promise<void> {
  await page.locator('body[data-ready]').waitFor();
  await playAd('Close ad', () => page.locator('canvas').click());
}

/** Resolves to the first URL in a server's output. */
async function waitForUrl({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('The server has no output stream.');
  for await (const line of createInterface({ input: stdout })) {
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(line)?.[0];
    if (url) {
      stdout.resume();
      return url;
    }
  }
  throw new Error('The server exited before it printed a URL.');
}
