import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';
import type { Page } from 'playwright';
import { expect, onTestFinished } from 'vitest';
import { installPackage, type InstalledPackage } from '../package/installed-package.ts';
import { it } from './worker.ts';

const root = join(import.meta.dirname, '..', '..');
let installedPackage: InstalledPackage;
let game: string;
let staticGame: string;
let page: Page;

const create = (name: string, ...options: string[]): string => {
  execFileSync('npx', ['--offline', 'create-trueward', name, '--dev-file', devFile(), ...options], {
    cwd: installedPackage.project,
    stdio: 'pipe',
  });
  return join(installedPackage.project, name);
};
const devFile = (): string => join(installedPackage.project, 'dev.json');

it.beforeAll(({ stack }) => {
  installedPackage = installPackage({
    linkedPackages: ['phaser', 'vite'],
    packedWorkspaces: ['create-trueward'],
  });
  // Creates the same link that npm creates when it installs Vite.
  symlinkSync(
    join(root, 'node_modules/vite/bin/vite.js'),
    join(installedPackage.project, 'node_modules/.bin/vite'),
  );
  writeFileSync(devFile(), JSON.stringify({ serviceUrl: stack.serviceUrl, keys: stack.keys }));
  game = create('my-game', '--server');
  staticGame = create('static-game', '--no-server');
});
it.afterAll(() => installedPackage?.remove());
it.beforeEach(async ({ browser }) => {
  page = await browser.newPage();
  return () => page.close();
});

it('generates games that depend on the tested package versions', () => {
  const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const folder of [game, staticGame])
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      name: basename(folder),
      dependencies: { trueward: `^${version}`, phaser: `^${devDependencies.phaser}` },
      devDependencies: { vite: `^${devDependencies.vite}` },
    });
});

it('generates a game whose own tests pass', () => {
  const output = execFileSync('npm', ['test'], { cwd: game, encoding: 'utf8', stdio: 'pipe' });
  expect(output).toMatch(/^# pass 2$/m);
});

it('generates a game whose server confirms the coins that a player earns', async () => {
  const port = await getPort({ host: '127.0.0.1' });
  const server = spawn('npm', ['start'], {
    cwd: game,
    env: { ...process.env, PORT: String(port), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
    // npm does not forward signals to its child process, so the test sends them to the whole process group.
    detached: true,
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    await waitForLine(server, url);
    await page.goto(url);
    await watchAd('Watch an ad: 50 coins');
    const player = await page.evaluate(() => localStorage.getItem('player'));
    const fetchAccount = async (): Promise<unknown> =>
      (await fetch(`${url}/players/${player}`)).json();
    await expect.poll(fetchAccount).toEqual({ coins: 50 });
  } finally {
    const exitEvent = once(server, 'exit');
    process.kill(-(server.pid ?? 0), 'SIGTERM');
    await exitEvent;
  }
});

it('generates static files with which a player earns gems, and has what they buy after a reload', async () => {
  execFileSync('npm', ['run', 'build'], { cwd: staticGame, stdio: 'pipe' });
  const url = await serve(join(staticGame, 'dist'));
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  const gems = page.locator('canvas p');
  const readBought = (): Promise<unknown> =>
    page.evaluate(() =>
      Object.values(JSON.parse(localStorage.getItem('bought') ?? '{}') as object),
    );

  await page.goto(url);
  expect(await gems.textContent()).toBe('Gems 0');
  await watchAd('Watch an ad');
  await expect.poll(() => gems.textContent()).toBe('Gems 5');
  await page.reload();
  await expect.poll(() => gems.textContent()).toBe('Gems 5');

  await page
    .locator('canvas button', { hasText: 'Watch an ad' })
    .waitFor({ state: 'attached', timeout: 60_000 });
  const canvas = page.locator('canvas');
  const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {};
  // The shop, in a game of 360 by 540.
  await canvas.click({ position: { x: width / 2, y: (height * 320) / 540 } });
  await expect.poll(() => gems.textContent()).toBe('Gems 0');
  await expect.poll(readBought).toEqual(['wide-basket']);
  await page.reload();
  await expect.poll(() => gems.textContent()).toBe('Gems 0');
  expect(await readBought()).toEqual(['wide-basket']);
  expect(errors).toEqual([]);
});

/** Waits for the end of the run, presses the button, watches the ad, and closes it. */
async function watchAd(label: string): Promise<void> {
  // Without input, the player doesn't catch any stars and the run ends.
  const offer = page.locator('canvas button', { hasText: label });
  await offer.waitFor({ state: 'attached', timeout: 60_000 });
  await offer.press('Enter');
  await page.getByText('Your reward is on its way').first().waitFor();
  await page.getByRole('button', { name: 'Close ad' }).first().click();
}

/** Serves a folder like a static host that has the game under a path. Returns the game's URL. */
async function serve(folder: string): Promise<string> {
  const path = '/games/stars/';
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
  const server = createServer(({ url = '' }, response) => {
    const name = url.startsWith(path) ? url.slice(path.length) || 'index.html' : 'missing';
    createReadStream(join(folder, name))
      .on('open', () => response.setHeader('content-type', types[extname(name)] ?? 'text/plain'))
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function waitForLine({ stdout }: ChildProcess, text: string): Promise<void> {
  if (!stdout) throw new Error('The process has no output stream.');
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    if (line.includes(text)) return void stdout.resume();
  }
  throw new Error(`The process exited before it printed ${text}:\n${lines.join('\n')}`);
}
