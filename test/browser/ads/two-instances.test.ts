import { beforeEach, expect, it, onTestFinished } from 'vitest';
import copy from '../../../dist/trueward.js?raw';
import { type Ads, createAds, type AdsOptions } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import {
  createPublishableKey,
  picture,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';

let service: StubService;

beforeEach(() => {
  document.body.replaceChildren();
  service = createStubService();
});

const options = (): AdsOptions => ({
  publishableKey: createPublishableKey(),
  serviceUrl: 'https://ads.test',
  fetch: service.fetch,
});

function createInstance(create: typeof createAds): Ads {
  const ads = create(options());
  onTestFinished(() => ads.destroy());
  return ads;
}

/** Returns `createAds` from a second copy of the script, as a portal's page might load it. */
async function loadSecondCopy(): Promise<typeof createAds> {
  const script = document.createElement('script');
  // As text, because the test server would turn a script that imports others into a module.
  script.textContent = copy;
  document.head.append(script);
  script.remove();
  return (window as unknown as { Trueward: { createAds: typeof createAds } }).Trueward.createAds;
}

const waitForStart = (ads: Ads) =>
  new Promise<void>((resolve) => void ads.on('start', () => resolve()));

const overlays = () =>
  Array.from(document.body.children).filter(({ shadowRoot }) =>
    shadowRoot?.querySelector('dialog'),
  );

it.each([
  ['another instance', async () => createAds],
  ['another copy of the script', loadSecondCopy],
])('shows no ad while %s is showing one', async (_name, other) => {
  const first = createInstance(createAds);
  const second = createInstance(await other());
  service.respond = () => picture(60_000);
  const abortController = new AbortController();
  const onScreen = waitForStart(first);
  const running = first.showRewarded('revive', { signal: abortController.signal });
  // Covers both an ad that is loading and an ad that is on the screen.
  await eventually(() => expect(service.requested).toEqual(['revive']));
  expect((await second.showRewarded('double')).outcome).toBe('already_showing');
  await onScreen;
  expect(await second.showRewarded('double')).toMatchObject({
    outcome: 'already_showing',
    detail: 'The ad for revive has not ended.',
  });
  expect(overlays()).toHaveLength(1);
  abortController.abort();
  await running;
  service.respond = () => picture(200);
  expect((await second.showRewarded('double')).outcome).toBe('rewarded');
  expect((await first.showRewarded('revive')).outcome).toBe('rewarded');
});

it('shows an ad after another instance was destroyed during its ad', async () => {
  const first = createInstance(createAds);
  const second = createInstance(createAds);
  service.respond = () => picture(60_000);
  const onScreen = waitForStart(first);
  const running = first.showRewarded('revive');
  await onScreen;
  first.destroy();
  expect((await running).outcome).toBe('aborted');
  service.respond = () => picture(200);
  expect((await second.showRewarded('double')).outcome).toBe('rewarded');
});
