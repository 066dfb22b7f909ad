import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Ads, type AdsOptions, createAds } from '../../../src/index.ts';
import recipes from '../../../docs/recipes.md?raw';
import { createDeferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';

const [, recipe = ''] = /## An honest button\n.*?```ts\n(.*?)```/s.exec(recipes) ?? [];

let ads: Ads;
let button: HTMLButtonElement;
let service: StubService;

beforeEach(() => {
  service = createStubService();
  button = document.createElement('button');
  button.disabled = true;
  document.body.replaceChildren(button);
});
afterEach(() => ads.destroy());

/** Runs the recipe exactly as it is written in the guide. */
function start(more: Partial<AdsOptions> = {}): void {
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    ...more,
  });
  // oxlint-disable-next-line typescript/no-implied-eval -- The code under test comes from the text of the guide.
  new Function('ads', 'reviveButton', recipe)(ads, button);
}

const expectButton = (text: string | RegExp, enabled: boolean) =>
  eventually(() => {
    expect(button.textContent).toMatch(text);
    expect(button.disabled).toBe(!enabled);
  });
const offerText = /Watch an ad/;

it('the button is enabled when a cooldown ends', async () => {
  const now = Date.now();
  service.respond = () => ({
    status: 'no_fill',
    reason: 'cooldown',
    issued_at: new Date(now).toISOString(),
    retry_at: new Date(now + 1_500).toISOString(),
  });
  start();
  await expectButton(/^Again at /, false);
  service.respond = () => picture(200);
  await expectButton(offerText, true);
});

it('the button is enabled again after a pending result', async () => {
  const { fetch } = service;
  const responded = createDeferred();
  service.fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    if (pathname === '/v1/events') await responded.promise;
    return fetch(input, init);
  };
  start({ confirmationTimeoutMs: 100 });
  await expectButton(offerText, true);
  const running = ads.showRewarded('revive', { onOpen: () => expect(button.disabled).toBe(true) });
  expect((await running).outcome).toBe('pending');
  await expectButton(offerText, true);
  responded.resolve();
});

it('the button is disabled while the device is offline', async () => {
  start();
  await expectButton(offerText, true);
  await ads.showRewarded('revive');
  Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
  dispatchEvent(new Event('offline'));
  await expectButton('Needs a connection', false);
  Reflect.deleteProperty(navigator, 'onLine');
  dispatchEvent(new Event('online'));
  await expectButton(offerText, true);
});
