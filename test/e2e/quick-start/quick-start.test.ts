import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import getPort from 'get-port';
import type { BrowserContext, Page } from 'playwright';
import { expect, inject } from 'vitest';
import { root } from '../../unit/docs/code-blocks.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { createReader, type Reader } from './reader.ts';

let stack: Stack;
let browser: BrowserContext;
let reader: Reader;
let page: Page;
const programs: ChildProcess[] = [];

it.beforeAll(async ({ browser: sharedBrowser, stack: sharedStack }) => {
  stack = sharedStack;
  browser = await sharedBrowser.newContext();
  reader = createReader(stack);
});
it.afterAll(async () => {
  const exitEvents = programs.map((program) => once(program, 'exit'));
  for (const program of programs) program.kill();
  await Promise.all(exitEvents);
  await browser?.close();
  await reader?.cleanUp();
});
it.beforeEach(async () => {
  page = await browser.newPage();
});
it.afterEach(() => page.close());

/** Clicks the button, watches the ad, and closes its end card. */
async function watchAd(button = 'Watch an ad for 25 coins'): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('link', { name: 'Learn more' }).first().waitFor();
  await page.getByText('Advertisement', { exact: true }).waitFor();
  await page.getByText('Your reward is on its way').first().waitFor();
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  await expect.poll(() => page.getByText('Advertisement', { exact: true }).isVisible()).toBe(false);
}

/**
 * Returns a function that resolves when the game server has credited one of the page's own ads, once. Earlier ads may be
 * credited at any time.
 */
function followCredits(player: string): () => Promise<void> {
  const decided: Promise<string>[] = [];
  page.on('response', (response) => {
    if (response.request().method() !== 'POST' || !response.url().endsWith('/v1/decisions')) return;
    // A page that is closed in the meantime has no body to read.
    decided.push(
      response.json().then(
        ({ id }: { id: string }) => id,
        () => '',
      ),
    );
  });
  return async () => {
    const ids = await Promise.all(decided);
    const countCredits = async (): Promise<number> =>
      (await stack.account(player)).credits.filter(({ decisionId }) => ids.includes(decisionId))
        .length;
    await expect.poll(countCredits).toBe(1);
  };
}

/** Runs a program from the quick start. Resolves to the first line of output that contains `expectedText`. */
function run(args: string[], env: Record<string, string>, expectedText: string): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: reader.folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  programs.push(child);
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args[0]} exited: ${errors}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes(expectedText)) resolve(line);
    });
  });
}

it('the quick start’s server credits the coins earned on the npm example’s page', async () => {
  const port = String(await getPort({ host: '127.0.0.1' }));
  const forwardArgs = ['--service', stack.serviceUrl, '--forward-to', `http://localhost:${port}`];
  const firstLine = await run(
    [join(root, 'service/dist/main.js'), 'listen', ...forwardArgs],
    { TRUEWARD_SECRET_KEY: stack.keys.sandbox.secret },
    '"secret"',
  );
  const { secret } = JSON.parse(firstLine) as { secret: string };
  const creditMessage = run(['server.mjs'], { WEBHOOK_SECRET: secret, PORT: port }, '25 coins');
  await page.goto(await reader.startPage());
  await watchAd();
  await expect.poll(() => page.locator('#coins').textContent()).toBe('25');
  expect(await creditMessage).toBe('player-42: 25 coins');
});

it('the README’s examples pause the game, revive the player and add the coins once', async () => {
  await page.goto(await reader.startReadme());
  await watchAd('Revive');
  const read = (id: string) => expect.poll(() => page.locator(`#${id}`).textContent());
  await read('calls').toBe('paused resumed revived ');
  await read('coins').toBe('25');
  await expect.poll(() => page.locator('#revive').isEnabled()).toBe(true);
});

it.skipIf(!inject('full'))(
  'the guide “No backend” earns, sells a hat once, and links a second browser',
  async ({ browser: sharedBrowser }) => {
    const url = await reader.startPageWithoutServer();
    const gems = (on: Page) => expect.poll(() => on.locator('#gems').textContent());
    const hat = (on: Page) => expect.poll(() => on.locator('#hat').textContent());
    const message = page.locator('#message');
    await page.goto(url);
    await page.getByRole('button', { name: 'Buy a red hat' }).click();
    await expect.poll(() => message.textContent()).toBe('Not enough gems.');
    for (const total of ['5', '10']) {
      await watchAd('Watch an ad for 5 gems');
      await gems(page).toBe(total);
    }
    await page.reload();
    await gems(page).toBe('10');
    // The answer is lost, the page is reloaded, and the player presses again.
    await page.route('**/v1/wallet/spends', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await page.getByRole('button', { name: 'Buy a red hat' }).click();
    await expect.poll(() => message.textContent()).toBe('One moment …');
    await page.unrouteAll();
    await page.reload();
    await page.getByRole('button', { name: 'Buy a red hat' }).click();
    await hat(page).toBe('red hat');
    await gems(page).toBe('5');
    await page.getByRole('button', { name: 'Play on another device' }).click();
    await expect.poll(() => message.textContent()).toMatch(/^Enter \w{4}-\w{4} on/);
    const [code = ''] = /\w{4}-\w{4}/.exec((await message.textContent()) ?? '') ?? [];

    const second = await sharedBrowser.newContext();
    const other = await second.newPage();
    await other.goto(url);
    await other.getByRole('textbox').fill(code.toLowerCase());
    await other.getByRole('button', { name: 'Use the code' }).click();
    await gems(other).toBe('5');
    await other.getByRole('button', { name: 'Buy a red hat' }).click();
    await hat(other).toBe('red hat');
    await gems(other).toBe('5');
    await second.close();
  },
);

it.each(['script-tag', 'canvas'])('the %s example earns a confirmed reward', async (name) => {
  const isCredited = followCredits('player-42');
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(`${stack.gameServerUrl}/examples/`);
  await page.locator(`a[href="./${name}.html"]`).click();
  await watchAd();
  await expect.poll(() => page.locator('#outcome').textContent()).toBe('rewarded');
  await isCredited();
  expect(errors).toEqual([]);
});

// Loose ES5, which older devices get, is what differs most from the source.
const compilations: [name: string, isLoose: boolean][] = [
  ['to loose ES5', true],
  ['for modern browsers', false],
];
it.each(rowsForRun(compilations, 2))(
  'the Cocos sample compiled %s earns a reward on a fake engine',
  async (_, isLoose) => {
    const isCredited = followCredits('guest');
    await page.goto(await reader.startCocosSample({ isLoose }));
    await watchAd();
    await expect.poll(() => page.locator('#revived').textContent()).toBe('1');
    await expect
      .poll(() => page.evaluate(() => JSON.parse(localStorage.getItem('wallet') ?? '{}') as object))
      .toEqual({ coins: 25, credited: [expect.stringMatching(/^dec_/)] });
    await isCredited();
  },
);
