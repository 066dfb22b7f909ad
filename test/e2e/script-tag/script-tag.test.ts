import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, FrameLocator, Page } from 'playwright';
import { expect, inject } from 'vitest';
import type {} from '../../../src/script-tag/phaser.ts';
import type {} from '../../../src/script-tag/start-tag.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import { type Host, startHost } from './host.ts';

const root = join(import.meta.dirname, '..', '..', '..');
let stack: Stack;
let host: Host;
let browser: Browser;
let page: Page;
let errors: string[];
let readme: { tag: string; policy: string };

it.beforeAll(async ({ browser: sharedBrowser, stack: sharedStack }) => {
  browser = sharedBrowser;
  stack = sharedStack;
  host = await startHost();
  readme = await readReadme();
});
it.beforeEach(async () => {
  page = await browser.newPage();
  errors = [];
  page.context().on('weberror', (error) => {
    errors.push(addSource(error.error().message, error.location()));
  });
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(addSource(message.text(), message.location()));
  });
});
it.afterEach(() => page.context().close());
it.afterAll(() => host?.stop());

/**
 * Reads the tag and the policy from the README, and fills in this test's URLs and key, and the hash of the present
 * build: The README holds the hashes of the release that it names.
 */
async function readReadme(): Promise<typeof readme> {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  const [, html = '', policy = ''] =
    /<!-- script-tags -->[^]*```html\n([^]*?)```[^]*?```\n([^]*?)```/.exec(text) ?? [];
  const integrity = await computeIntegrity('trueward.js');
  const fillIn = (part: string): string =>
    part
      .replace(/sha384-[^"]+/, integrity)
      .replaceAll(/https:\/\/cdn\.jsdelivr\.net\/[^"\s;]*?\/dist\//g, `${host.url}/dist/`)
      .replaceAll('https://play.example.com', stack.serviceUrl)
      .replaceAll('pk_sandbox_…', stack.keys.sandbox.publishable);
  return { tag: fillIn(html), policy: fillIn(policy).replaceAll('\n', ' ') };
}

async function computeIntegrity(file: string): Promise<string> {
  const content = await readFile(join(root, 'dist', file));
  return `sha384-${createHash('sha384').update(content).digest('base64')}`;
}

const addAttributes = (attributes: string): string =>
  readme.tag.replace('async', `async ${attributes}`);
const createPage = (tags: string): string => `<!doctype html><html lang="en">
  <head><link rel="icon" href="data:,"><title>Game</title>
  <script src="${host.url}/game.js"></script>${tags}</head>
  <body><canvas></canvas><button id="play">Play</button><output id="outcome"></output></body></html>`;
/** Appends the file name and the line number, because the text of an error without a stack doesn't include them. */
const addSource = (text: string, { url, line }: { url: string; line: number }): string =>
  `${text} (${url.split('/').at(-1)}:${line + 1})`;
const expectedErrors = ['a command that throws (game.js:7)'];

/** Watches an ad in a game's page or frame until the reward is confirmed. */
async function earn(game: Page | FrameLocator): Promise<void> {
  await game.locator('html[data-ready]').waitFor();
  await game.locator('#play').click();
  await game.getByText('Your reward is on its way').first().waitFor();
  await game.getByRole('button', { name: 'Close ad' }).first().click();
  await game.locator('#outcome', { hasText: 'rewarded' }).waitFor();
}

it('the README’s tag shows an ad under the README’s content security policy', async () => {
  const pagePolicy = `default-src 'none'; img-src data:`;
  const policy = readme.policy
    .replace('script-src', "script-src 'self'")
    .replace('img-src', 'img-src data:');
  host.set('/strict', {
    body: createPage(addAttributes('data-user-ref="player-1"')),
    policy: `${pagePolicy.split(';')[0]}; ${policy}`,
  });
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url().split('/').at(-1) ?? '');
  });
  await page.goto(`${host.url}/strict`);
  await earn(page);
  expect(scripts.sort()).toEqual(['game.js', 'trueward.js']);
  expect(errors).toEqual(expectedErrors);
});

it('the browser blocks a script that does not match the tag’s integrity hash', async () => {
  host.set('/altered', {
    body: createPage(readme.tag.replace('/dist/trueward.js', '/dist/trueward-phaser.js')),
  });
  await page.goto(`${host.url}/altered`, { waitUntil: 'load' });
  expect(errors.join()).toContain('integrity');
  expect(await page.evaluate(() => window.Trueward?.createAds)).toBeUndefined();
});

it('queued commands run only once if the page contains the tag more than once', async () => {
  const tag = addAttributes('data-user-ref="player-2"');
  const phaser = `<script src="${host.url}/dist/trueward-phaser.js"></script>`;
  host.set('/twice', { body: createPage(tag + tag + phaser + phaser) });
  await page.goto(`${host.url}/twice`, { waitUntil: 'load' });
  expect(await page.evaluate(() => window.runs)).toBe(1);
  const isUnchanged = await page.evaluate(
    (src) =>
      new Promise<boolean>((resolve) => {
        const script = Object.assign(document.createElement('script'), { src });
        script.dataset['key'] = 'pk_sandbox_other';
        const previousPlugin = window.TruewardPlugin;
        script.onload = () =>
          window.Trueward?.queue.push((ads) =>
            resolve(
              ads === window.ads &&
                previousPlugin === window.TruewardPlugin &&
                previousPlugin !== undefined,
            ),
          );
        document.head.append(script);
      }),
    `${host.url}/dist/trueward.js`,
  );
  expect(isUnchanged).toBe(true);
  expect(errors).toEqual(expectedErrors);
  await earn(page);
});

it.each([
  ['after', (tag: string, phaser: string) => tag.replace('async', '') + phaser],
  ['before', (tag: string, phaser: string) => phaser + tag],
] as const)('the Phaser script %s the tag extends the same global', async (order, tags) => {
  const phaser = `<script src="${host.url}/dist/trueward-phaser.js"></script>`;
  const elements = '<div id="trueward"></div><div id="Trueward"></div>';
  const tag = addAttributes('data-user-ref="player-7"');
  host.set(`/${order}`, {
    body: createPage('').replace('<canvas>', `${elements}${tags(tag, phaser)}<canvas>`),
  });
  await page.goto(`${host.url}/${order}`, { waitUntil: 'load' });
  const names = await page.evaluate(() => [
    window.TruewardPlugin === window.Trueward?.TruewardPlugin,
    ...Object.keys(window.Trueward ?? {}).toSorted(),
  ]);
  expect(names).toEqual([
    true,
    'OptionError',
    'TruewardPlugin',
    'createAds',
    'createEngineDriver',
    'phaserDriver',
    'queue',
  ]);
  await earn(page);
  expect(errors).toEqual(expectedErrors);
});

it('the script defines its global even if an element uses that name as its id', async () => {
  host.set('/named', {
    body: `<!doctype html><div id="Trueward"></div><script src="${host.url}/dist/trueward.js"></script>`,
  });
  await page.goto(`${host.url}/named`, { waitUntil: 'load' });
  expect(await page.evaluate(() => typeof window.Trueward?.createAds)).toBe('function');
});

it('the tag’s attributes set options', async () => {
  const attributes =
    'data-user-ref="player-3" data-child-directed data-consent="denied" data-locale="fr" data-debug data-muted="false"';
  const logs: string[] = [];
  page.on('console', (message) => logs.push(message.text()));
  host.set('/attributes', { body: createPage(addAttributes(attributes)) });
  await page.goto(`${host.url}/attributes`);
  await page.locator('html[data-ready]').waitFor();
  const decisionRequest = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
  await page.locator('#play').click();
  const request = (await decisionRequest).postDataJSON() as Record<string, unknown>;
  expect(request).toMatchObject({
    child_directed: true,
    consent: { status: 'denied' },
    locale: 'fr',
  });
  expect(request['user_ref']).not.toBe('player-3');
  await expect.poll(() => logs).toContain('[trueward] POST /v1/decisions');
});

it('a tag with a portal starts without a key, and shows the portal’s ads', async () => {
  const sdk = `<script>
    window.asked = [];
    window.PokiSDK = {
      init: async () => {},
      gameLoadingFinished() {},
      async rewardedBreak({ onStart }) { onStart(); asked.push('rewarded'); return true; },
    };
  </script>`;
  const rewards = JSON.stringify({ revive: { type: 'coins', amount: 25 } });
  const createTag = (portal: string, portalRewards: string): string =>
    addAttributes(`data-portal${portal} data-portal-rewards='${portalRewards}'`).replace(
      / data-(?:key|service-url)="[^"]*"/g,
      '',
    );
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.url().startsWith(stack.serviceUrl)) requests.push(request.url());
  });
  // The code for portals is in a file of its own, which is loaded again if that fails.
  const answers: number[] = [];
  await page.route('**/trueward-portals.js', (route) => {
    answers.push(answers.length === 0 ? 503 : 200);
    return answers.length === 1 ? route.fulfill({ status: 503 }) : route.fallback();
  });
  const failure = 'Failed to load resource: the server responded with a status of 503';
  host.set('/poki', { body: createPage(sdk + createTag('="poki"', rewards)) });
  await page.goto(`${host.url}/poki`);
  await page.locator('html[data-ready]').waitFor();
  await page.locator('#play').click();
  await page.locator('#outcome', { hasText: 'rewarded' }).waitFor();
  expect(await page.evaluate(() => Reflect.get(window, 'asked') as unknown)).toEqual(['rewarded']);
  expect([requests, answers]).toEqual([[], [503, 200]]);
  expect(errors.filter((text) => !text.startsWith(failure))).toEqual(expectedErrors);

  const mistakes: [tag: string, message: string][] = [
    // No portal is found here, so the service is needed.
    [createTag('', rewards), 'the option `publishableKey` is missing'],
    [createTag('="false"', rewards), 'the option `publishableKey` is missing'],
  ];
  for (const [tag, message] of mistakes) {
    errors.length = 0;
    host.set('/portal-mistake', { body: createPage(tag) });
    await page.goto(`${host.url}/portal-mistake`, { waitUntil: 'load' });
    expect(errors).toEqual([expect.stringContaining(message)]);
  }
});

it('page ads load the code for portals too, from the tag’s folder and with its protection', async () => {
  const google = `<script nonce="n1">
    window.adsbygoogle = { push: (entry) => entry.onReady?.() };
  </script>`;
  const tag = addAttributes('nonce="n1" data-page-ads="google_h5"');
  host.set('/page-ads', {
    body: createPage(google + tag).replace('<script src', '<script nonce="n1" src'),
    policy: `script-src 'nonce-n1'`,
  });
  await page.goto(`${host.url}/page-ads`);
  await page.locator('html[data-ready]').waitFor();
  const listed = async (): Promise<unknown> => {
    const request = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
    await page.evaluate(
      () => void window.ads.preload('revive', { customData: `${Math.random()}` }),
    );
    return ((await request).postDataJSON() as { page_adapters?: string[] }).page_adapters;
  };
  await expect.poll(listed).toEqual(['google_h5']);
  expect(errors).toEqual(expectedErrors);
});

it('loads no other file for portals than the one that was built with it', async () => {
  const file = await readFile(join(root, 'dist', 'trueward-portals.js'), 'utf8');
  await page.route('**/trueward-portals.js', (route) =>
    route.fulfill({
      body: `${file};`,
      contentType: 'text/javascript',
      headers: { 'access-control-allow-origin': '*' },
    }),
  );
  host.set('/no-portals', { body: createPage(addAttributes('data-portal="poki"')) });
  await page.goto(`${host.url}/no-portals`, { waitUntil: 'load' });
  await expect.poll(() => errors.join()).toContain('integrity');
  // The developer is told once it has failed for seven seconds.
  if (inject('full'))
    await expect
      .poll(() => errors.join(), { timeout: 20_000 })
      .toContain('trueward-portals.js must be in the same folder');
});

it('the tag for web exports holds a GDevelop game during its ads', async () => {
  // A stand-in for the exported page, whose game is a local variable of the page's own script.
  const engine = `<script>
    var gdjs = {
      RuntimeGame: class {
        paused = false;
        pause(paused) { this.paused = paused; }
        startGameLoop() {
          const frame = () => {
            requestAnimationFrame(frame);
            if (!this.paused) window.frames_run = (window.frames_run ?? 0) + 1;
          };
          frame();
        }
      },
    };
    addEventListener('load', () => new gdjs.RuntimeGame().startGameLoop());
  </script>`;
  const tag = addAttributes('data-user-ref="player-9"')
    .replace('async ', '')
    .replace(/integrity="[^"]*"/, '')
    .replace('trueward.js', 'trueward-web-export.js');
  // In an export, the engine's files are scripts of their own.
  const loaded = '<script src="data:text/javascript,0"></script>';
  host.set('/export', { body: createPage(tag + engine + loaded) });
  await page.goto(`${host.url}/export`, { waitUntil: 'load' });
  const countFrames = () => page.evaluate(() => Reflect.get(window, 'frames_run') as number);
  await expect.poll(countFrames).toBeGreaterThan(2);
  await page.locator('#play').click();
  await page.getByRole('dialog').first().waitFor();
  const framesBefore = await countFrames();
  await page.getByText('Your reward is on its way').first().waitFor();
  expect(await countFrames()).toBe(framesBefore);
  await page.getByRole('button', { name: 'Close ad' }).first().click();
  await page.locator('#outcome', { hasText: 'rewarded' }).waitFor();
  await expect.poll(countFrames).toBeGreaterThan(framesBefore);
  expect(errors).toEqual(expectedErrors);
});

it('starts from a module tag too', async () => {
  const tag = addAttributes('type="module" data-user-ref="player-8"');
  host.set('/module', { body: createPage(tag) });
  await page.goto(`${host.url}/module`);
  await page.locator('html[data-ready]').waitFor();
  await earn(page);
});

it('an invalid attribute is reported once, and the page keeps running', async () => {
  host.set('/mistake', { body: createPage(addAttributes('data-service-url="maybe"')) });
  await page.goto(`${host.url}/mistake`, { waitUntil: 'load' });
  expect(errors).toEqual([expect.stringContaining('the option `serviceUrl` must be')]);
});

/** Reads the iframe element that docs/script-tag.md recommends to portals. */
async function readGuideFrame(src: string): Promise<string> {
  const guide = await readFile(join(root, 'docs', 'script-tag.md'), 'utf8');
  const [, html = ''] = /<!-- tested -->\n\n```html\n(<iframe[^]*?)```/.exec(guide) ?? [];
  return html.replace('https://games.example.com/your-game/', src);
}

it('works in a portal’s cross-site frame', async () => {
  host.set('/game', { body: createPage(addAttributes('data-user-ref="player-4"')) });
  host.set('/portal', { body: `<!doctype html>${await readGuideFrame(`${host.url}/game`)}` });
  await page.goto(`${host.otherSiteUrl}/portal`);
  const game = page.frameLocator('iframe');
  await game.locator('html[data-ready]').waitFor();
  await game.locator('#play').click();
  // Browsers ignore `autofocus` in cross-site frames, but the ad must have keyboard focus.
  const findFocusedTag = () => document.activeElement?.shadowRoot?.activeElement?.tagName;
  await game.getByRole('link').first().waitFor();
  expect(await page.frames()[1]?.evaluate(findFocusedTag)).toBeDefined();
  await game.getByText('Your reward is on its way').first().waitFor();
  // The reward is due, so the ad does not wait for the player to return.
  const popup = page.waitForEvent('popup');
  await game.getByRole('link').first().click();
  await (await popup).close();
  // For a moment after the click-through, the ad ignores input. A player presses again.
  await expect
    .poll(async () => {
      const close = game.getByRole('button', { name: 'Close ad' }).first();
      if (await close.isVisible()) await close.click();
      return game.locator('#outcome').textContent();
    })
    .toBe('rewarded');
  const allowedFeatures = await page.frames()[1]?.evaluate(() => {
    const { featurePolicy } = document as Document & {
      featurePolicy: { allowsFeature(name: string): boolean };
    };
    return ['autoplay', 'fullscreen'].filter((name) => featurePolicy.allowsFeature(name));
  });
  expect(allowedFeatures).toEqual(['autoplay', 'fullscreen']);
});

/**
 * Creates a portal with a game and a consent dialog, which is just a button. The portal implements only the `postMessage`
 * part of TCF.
 */
const createPortal = (src: string): string => `<!doctype html><html lang="en">
  <body><button id="agree">Agree</button><iframe name="__tcfapiLocator" hidden></iframe>
  <iframe id="game" width="640" height="480" src="${src}"></iframe>
  <script>
    const listeners = [];
    const notify = (listener, eventStatus) => listener({
      eventStatus, gdprApplies: true, tcString: 'CPportal', listenerId: 1,
      purpose: { consents: eventStatus === 'cmpuishown' ? {} : { 1: true, 2: true, 7: true } },
    });
    addEventListener('message', ({ data, source }) => {
      const call = data && data.__tcfapiCall;
      if (!call || call.command !== 'addEventListener' || call.version !== 2) return;
      const listener = (returnValue) => source.postMessage(
        { __tcfapiReturn: { returnValue, success: true, callId: call.callId } }, '*');
      listeners.push(listener);
      notify(listener, 'cmpuishown');
      document.documentElement.dataset.asked = 'yes';
    });
    document.querySelector('#agree').onclick = () => {
      for (const listener of listeners) notify(listener, 'useractioncomplete');
    };
  </script></body></html>`;

it.for(rowsForRun(['other', 'same'] as const, 2))(
  'a game in a frame waits for the consent dialog in a portal on the %s site',
  async (site) => {
    const attributes = `data-user-ref="player-${site}" data-consent="page"`;
    host.set('/consent-game', { body: createPage(addAttributes(attributes)) });
    host.set('/consent-portal', { body: createPortal(`${host.url}/consent-game`) });
    const requests: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(stack.serviceUrl)) requests.push(request.url());
    });
    await page.goto(`${site === 'same' ? host.url : host.otherSiteUrl}/consent-portal`);
    const game = page.frameLocator('#game');
    await page.locator('html[data-asked]').waitFor();
    await game.locator('html[data-ready]').waitFor();
    await game.locator('#play').click();
    await game.locator('#outcome', { hasText: 'not_ready' }).waitFor();
    expect(requests).toEqual([]);
    const request = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
    await page.locator('#agree').click();
    await earn(game);
    expect((await request).postDataJSON()).toMatchObject({
      consent: { status: 'granted', tcf_string: 'CPportal' },
    });
    expect(errors).toEqual(expectedErrors);
  },
);

it('works in a sandboxed frame without storage', async () => {
  host.set('/opaque-game', { body: createPage(addAttributes('data-user-ref="player-5"')) });
  host.set('/opaque', {
    body: `<!doctype html><iframe sandbox="allow-scripts" width="640" height="480" src="/opaque-game"></iframe>`,
  });
  await page.goto(`${host.url}/opaque`);
  await earn(page.frameLocator('iframe'));
  const frame = page.frames()[1];
  expect(await frame?.evaluate(() => window.origin)).toBe('null');
  expect(await frame?.evaluate(() => window.ads.diagnostics().outbox.storage)).toBe('memory');
  expect(errors).toEqual(expectedErrors);
});

it('works on a page with a file: URL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trueward-file-'));
  try {
    const file = join(folder, 'index.html');
    await writeFile(file, createPage(addAttributes('data-user-ref="player-6"')));
    await page.goto(pathToFileURL(file).href);
    await earn(page);
    expect(errors).toEqual(expectedErrors);
  } finally {
    await rm(folder, { recursive: true });
  }
});

declare global {
  interface Window {
    /** How many times the command in `game.js` has run. */
    runs: number;
  }
}
