import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';
import { expect } from 'vitest';
import { installPackage, type InstalledPackage } from '../package/installed-package.ts';
import { it } from './worker.ts';

const root = join(import.meta.dirname, '..', '..');
let installedPackage: InstalledPackage;
let game: string;

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
  game = join(installedPackage.project, 'my-game');
  const devFile = join(installedPackage.project, 'dev.json');
  writeFileSync(devFile, JSON.stringify({ serviceUrl: stack.serviceUrl, keys: stack.keys }));
  execFileSync('npx', ['--offline', 'create-trueward', 'my-game', '--dev-file', devFile], {
    cwd: installedPackage.project,
    stdio: 'pipe',
  });
});
it.afterAll(() => installedPackage?.remove());

it('generates a game that depends on the tested package versions', () => {
  const manifest = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  const { version, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({
    name: 'my-game',
    dependencies: { trueward: `^${version}`, phaser: `^${devDependencies.phaser}` },
    devDependencies: { vite: `^${devDependencies.vite}` },
  });
});

it('generates a game whose own tests pass', () => {
  const output = execFileSync('npm', ['test'], { cwd: game, encoding: 'utf8', stdio: 'pipe' });
  expect(output).toMatch(/^# pass 2$/m);
});

it('generates a game whose server confirms the coins that a player earns', async ({ browser }) => {
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
    const page = await browser.newPage();
    await page.goto(url);
    // Without input, the player doesn't catch any stars and the run ends.
    const offer = page.locator('canvas button', { hasText: 'Watch an ad: 50 coins' });
    await offer.waitFor({ state: 'attached', timeout: 60_000 });
    await offer.press('Enter');
    await page.getByText('Your reward is on its way').first().waitFor();
    await page.getByRole('button', { name: 'Close ad' }).first().click();
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

async function waitForLine({ stdout }: ChildProcess, text: string): Promise<void> {
  if (!stdout) throw new Error('The process has no output stream.');
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdout })) {
    lines.push(line);
    if (line.includes(text)) return void stdout.resume();
  }
  throw new Error(`The process exited before it printed ${text}:\n${lines.join('\n')}`);
}
