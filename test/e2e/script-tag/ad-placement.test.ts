import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import { expect } from 'vitest';
import type {} from '../../../src/script-tag/start-tag.ts';
import type { Ads } from '../../../src/index.ts';
import { closeAd as close, closeControl, closeEarly } from '../browser.ts';
import type { Stack } from '../stack.ts';
import { it } from '../worker.ts';
import { type Host, startHost } from './host.ts';

/**
 * If this variable is set, AdLad is tested too. It names a folder that contains AdLad's sources in `adlad`, and the
 * sources of AdLad's Google plugin in `adlad-plugin-google-ad-placement`.
 */
const adladFolder = process.env['ADLAD_FOLDER'];
const google = 'https://pagead2.googlesyndication.com/**';

let stack: Stack;
let host: Host;
let browser: Browser;
let page: Page;
let errors: string[];

it.beforeAll(async ({ browser: sharedBrowser, stack: sharedStack }) => {
  browser = sharedBrowser;
  stack = sharedStack;
  host = await startHost();
});
it.beforeEach(async () => {
  page = await browser.newPage();
  errors = [];
  page.on('pageerror', ({ message }) => errors.push(message));
});
it.afterEach(() => page.context().close());
it.afterAll(() => host?.stop());

const tag = (
  attributes = 'data-placement-interstitial="level-end" data-placement-reward="revive"',
) =>
  `<script defer src="${host.url}/dist/trueward-ad-placement.js" data-user-ref="${crypto.randomUUID()}"
    data-ad-frequency-hint="0s"
    data-key="${stack.keys.sandbox.publishable}" data-service-url="${stack.serviceUrl}" ${attributes}></script>`;

async function open(head: string): Promise<void> {
  const path = `/${crypto.randomUUID()}`;
  host.set(path, {
    body: `<!doctype html><html lang="en"><head><link rel="icon" href="data:,"><title>Game</title>
      ${head}</head><body><canvas></canvas></body></html>`,
  });
  await page.goto(host.url + path);
}

/** Google's own snippet, and callbacks that record how they are called. */
const snippet = `<script>
  window.adsbygoogle = window.adsbygoogle || [];
  var adBreak = adConfig = function (o) { adsbygoogle.push(o); };
  (adsbygoogle = window.adsbygoogle || []).requestNonPersonalizedAds = 1;
  const calls = [];
  const record = (name) => (info) => calls.push(info && info.breakStatus ? name + ' ' + info.breakStatus : name);
  const callbacks = {
    beforeAd: record('beforeAd'), afterAd: record('afterAd'), adViewed: record('adViewed'),
    adDismissed: record('adDismissed'), adBreakDone: record('adBreakDone'),
  };
  const originalAdBreak = adBreak;
</script>`;
const readCalls = () => page.evaluate<string[]>('calls');
/** Waits until an ad is loaded, so that a busy machine doesn't make a break too late for its ad. */
const waitForAd = (placement: string) =>
  page.waitForFunction(
    (name) =>
      new Promise((resolve) =>
        window.Trueward?.queue.push((ads: Ads) => resolve(ads.isLoaded(name))),
      ),
    placement,
  );
async function closeAd(): Promise<void> {
  await closeControl(page).waitFor();
  await close(page);
}

it('runs breaks that Google’s own snippet queued before the script loaded', async () => {
  await open(`${snippet}<script>
    adsbygoogle.push({});
    adConfig({ preloadAdBreaks: 'on', sound: 'off', onReady: record('onReady') });
    adBreak({ type: 'preroll', ...callbacks });
  </script>${tag()}`);
  await closeAd();
  await expect.poll(readCalls).toEqual(['onReady', 'adBreakDone viewed']);

  await waitForAd('level-end');
  await page.evaluate(`calls.length = 0; adBreak({ type: 'next', name: 'level-3', ...callbacks })`);
  await closeAd();
  await expect.poll(readCalls).toEqual(['beforeAd', 'afterAd', 'adBreakDone viewed']);

  await page.evaluate(`calls.length = 0; adsbygoogle.push({}); adsbygoogle.requestNonPersonalizedAds = 0;
    adBreak({ type: 'reward', ...callbacks, beforeReward(show) { calls.push('beforeReward'); show(); } });`);
  await page.getByText('Your reward is on its way').first().waitFor();
  await closeAd();
  await expect
    .poll(readCalls)
    .toEqual(['beforeReward', 'beforeAd', 'adViewed', 'afterAd', 'adBreakDone viewed']);
  expect(await page.evaluate('adBreak === originalAdBreak')).toBe(true);
  expect(errors).toEqual([]);
});

it('ends every break and reports the error if an attribute is invalid', async () => {
  await open(`${snippet}<script>adBreak({ type: 'next', ...callbacks });</script>
    ${tag('data-placement-next="level-end"').replace(/data-service-url="[^"]*"/, 'data-service-url="maybe"')}`);
  await expect.poll(readCalls).toEqual(['adBreakDone other']);
  expect(errors).toEqual([expect.stringContaining('the option `serviceUrl` must be')]);
});

it('reports a tag without a placement', async () => {
  await open(`${snippet}<script>adBreak({ type: 'next', ...callbacks });</script>${tag('')}`);
  await expect.poll(readCalls).toEqual(['adBreakDone invalid']);
  expect(errors).toEqual([expect.stringContaining('data-placement-interstitial')]);
});

it('ends every break and reports a tag without a key', async () => {
  await open(
    `${snippet}<script>adBreak({ type: 'next', ...callbacks });</script>${tag().replace(/data-key="[^"]*"/, '')}`,
  );
  await expect.poll(readCalls).toEqual(['adBreakDone other']);
  expect(errors).toEqual([expect.stringContaining('has no `data-key`')]);
});

it('ends every break whatever the attributes contain', async () => {
  const odd = ['', ' ', 'maybe', '0', 'null', '-1', 'Zoë 💎', '<b>', 'x'.repeat(5_000)];
  const names = ['key', 'service-url', 'user-ref', 'user-token', 'custom-data', 'locale']
    .concat(['consent', 'child-directed', 'keep-running', 'muted', 'debug'])
    .concat(['placement-', 'placement-next', 'placement-reward', 'ad-frequency-hint'])
    .concat(['tag-for-child-directed-treatment', 'adbreak-test', 'ad-client', 'ad-channel']);
  for (const value of odd) {
    const all = names.map((name) => `data-${name}="${value.replaceAll('<', '&lt;')}"`);
    // Each value in all attributes, and then in all but those without which nothing starts.
    for (const attributes of [all, all.slice(2)]) {
      const isComplete = attributes.length < all.length;
      const start = isComplete
        ? `data-key="${stack.keys.sandbox.publishable}" data-service-url="${stack.serviceUrl}"`
        : '';
      await open(`${snippet}<script>adBreak({ type: 'next', ...callbacks });</script>
        <script defer src="${host.url}/dist/trueward-ad-placement.js" ${start} ${attributes.join(' ')}></script>`);
      await expect
        .poll(readCalls, { message: `${isComplete} ${value.slice(0, 9)}` })
        .toEqual([expect.stringMatching(/^adBreakDone (?:other|invalid|notReady|noAdPreloaded)$/)]);
    }
  }
});

it('a page for children stays one', async () => {
  await open(
    `${snippet}${tag('data-tag-for-child-directed-treatment="1" data-placement-next="level-end"')}`,
  );
  const request = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
  await page.evaluate(`adBreak({ type: 'next', ...callbacks })`);
  expect((await request).postDataJSON()).toMatchObject({ child_directed: true });
});

it('the guide’s script gives each device a player of its own', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/ad-placement.md'), 'utf8');
  const [, code = ''] = /<!-- tested -->\n\n```js\n([^]*?)```/.exec(guide) ?? [];
  const script = code
    .replace('pk_sandbox_…', stack.keys.sandbox.publishable)
    .replace('https://play.example.com', stack.serviceUrl)
    .replace('trueward-ad-placement.js', `${host.url}/dist/trueward-ad-placement.js`);
  await open(`${snippet}<script>${script}</script>`);
  const request = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
  await page.evaluate(`adBreak({ type: 'next', ...callbacks })`);
  const player = await page.evaluate(() => localStorage.getItem('player-id'));
  expect(player).toMatch(/^[\da-f-]{36}$/);
  expect((await request).postDataJSON()).toMatchObject({ user_ref: player });
});

it('shares the SDK in trueward.js, and exports its functions for pages that do their own setup', async () => {
  const sdk = tag().replace('trueward-ad-placement.js', 'trueward.js');
  await open(`${snippet}${sdk}${tag()}`);
  await page.waitForFunction(
    () => 'owner' in (window as unknown as { adsbygoogle: object }).adsbygoogle,
  );
  const decisionRequest = page.waitForRequest(`${stack.serviceUrl}/v1/decisions`);
  await page.evaluate(`adBreak({ type: 'next', ...callbacks })`);
  expect((await decisionRequest).postDataJSON()).toMatchObject({ placement: 'level-end' });

  await open(`${snippet}<script src="${host.url}/dist/trueward-ad-placement.js"></script>`);
  await page.evaluate(
    async ([publishableKey, serviceUrl]) => {
      const { createAds, createAdPlacement, installAdsbygoogle } =
        window.Trueward as never as Record<string, (...options: unknown[]) => unknown>;
      const ads = createAds?.({ publishableKey, serviceUrl }) as Ads;
      installAdsbygoogle?.(createAdPlacement?.(ads, { placements: { 'Level 3': 'level-end' } }));
      await ads.preload('level-end');
    },
    [stack.keys.sandbox.publishable, stack.serviceUrl],
  );
  await page.evaluate(`adBreak({ type: 'next', name: 'Level 3', ...callbacks })`);
  await closeAd();
  await expect.poll(readCalls).toEqual(['beforeAd', 'afterAd', 'adBreakDone viewed']);
});

/** A common interface to the libraries below, so that the same test can cover each of them. */
interface Library {
  canShowRewardedAd(): boolean;
  showRewardedAd(): Promise<unknown>;
  showFullScreenAd(): Promise<unknown>;
}
declare global {
  interface Window {
    library: Library;
    /** What the library has asked the game to do: pause, resume, mute or unmute. */
    needs: string[];
    libraryResult: unknown;
  }
}

const libraries = [
  {
    name: 'an ads library',
    files: {} as Record<string, string>,
    start: `
      import { startAdsLibrary } from '/ads-library.js';
      window.library = startAdsLibrary((needed) => needs.push(needed ? 'pause' : 'resume'));`,
    needs: ['pause', 'resume'],
    viewed: 'viewed' as unknown,
    dismissed: 'dismissed' as unknown,
    noAd: 'noAdPreloaded' as unknown,
  },
  {
    name: 'AdLad',
    files: {
      '/adlad/': join(adladFolder ?? '', 'adlad'),
      '/plugin/': join(adladFolder ?? '', 'adlad-plugin-google-ad-placement'),
    },
    start: `
      import { AdLad } from '/adlad/src/AdLad.js';
      import { googleAdPlacementPlugin } from '/plugin/src/mod.js';
      const adLad = new AdLad({ plugins: [googleAdPlacementPlugin({ publisherId: 'ca-pub-1' })] });
      adLad.onNeedsPauseChange((needed) => needs.push(needed ? 'pause' : 'resume'));
      adLad.onNeedsMuteChange((needed) => needs.push(needed ? 'mute' : 'unmute'));
      window.library = {
        canShowRewardedAd: () => adLad.canShowRewardedAd,
        showRewardedAd: () => adLad.showRewardedAd(),
        showFullScreenAd: () => adLad.showFullScreenAd(),
      };`,
    needs: ['pause', 'mute', 'unmute', 'resume'],
    viewed: { didShowAd: true, errorReason: null },
    dismissed: { didShowAd: false, errorReason: 'user-dismissed' },
    noAd: { didShowAd: false, errorReason: 'no-ad-available' },
  },
];

for (const { name, files, start, needs, viewed, dismissed, noAd } of libraries) {
  const waitForOffer = () =>
    expect.poll(() => page.evaluate(() => window.library?.canShowRewardedAd())).toBe(true);
  const show = (kind: 'showRewardedAd' | 'showFullScreenAd') =>
    page.evaluate((method) => {
      window.needs.length = 0;
      window.libraryResult = undefined;
      void window.library[method]().then((result) => (window.libraryResult = result));
    }, kind);
  const expectResult = () => expect.poll(() => page.evaluate(() => window.libraryResult));

  it.skipIf(name === 'AdLad' && !(adladFolder && existsSync(adladFolder)))(
    `${name} with a backend for Google’s API works unmodified`,
    async () => {
      // Ad blockers serve a stub instead of Google's script. The stub replaces `adsbygoogle`.
      await page.route(google, (route) =>
        route.fulfill({
          contentType: 'text/javascript',
          body: 'window.adsbygoogle = { loaded: true, push: function () {} };',
        }),
      );
      for (const [path, folder] of Object.entries(files)) {
        await page.route(`${host.url}${path}**`, async (route) => {
          const file = new URL(route.request().url()).pathname.slice(path.length);
          await route.fulfill({
            contentType: 'text/javascript',
            body: await readFile(join(folder, file)),
          });
        });
      }
      await page.route(`${host.url}/ads-library.js`, async (route) =>
        route.fulfill({
          contentType: 'text/javascript',
          body: await readFile(join(import.meta.dirname, 'ads-library.js')),
        }),
      );
      // The ad is long enough for the test to close it early, even on a busy machine.
      const long = tag('data-placement-interstitial="level-end" data-placement-reward="long"');
      await open(`${long}<script>needs = [];</script><script type="module">${start}</script>`);

      await waitForOffer();
      await show('showRewardedAd');
      await page.getByText('Your reward is on its way').first().waitFor();
      await closeAd();
      await expectResult().toEqual(viewed);
      expect(await page.evaluate(() => window.needs)).toEqual(needs);

      await waitForOffer();
      await show('showRewardedAd');
      await closeEarly(page);
      await expectResult().toEqual(dismissed);
      expect(await page.evaluate(() => window.needs)).toEqual(needs);

      await show('showFullScreenAd');
      await closeAd();
      await expectResult().toEqual(viewed);
      expect(await page.evaluate(() => window.needs)).toEqual(needs);

      await page.evaluate(() => window.Trueward?.queue.push((ads: Ads) => ads.simulate('no_fill')));
      await show('showFullScreenAd');
      await expectResult().toEqual(noAd);
      expect(await page.evaluate(() => window.needs)).toEqual([]);
      await expect.poll(() => page.evaluate(() => window.library.canShowRewardedAd())).toBe(false);
      expect(errors).toEqual([]);
    },
  );
}
