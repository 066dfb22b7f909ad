import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DecisionRequest } from '../../../protocol/wire.ts';
import { type Ads, type AdsOptions, createAds } from '../../../src/index.ts';
import {
  createPublishableKey,
  createStubService,
  type StubService,
} from '../../support/stub-service.ts';
import { eventually } from '../../support/eventually.ts';

const requests: DecisionRequest[] = [];
const sentUrls: string[] = [];
let service: StubService;
let ads: Ads | undefined;

function start(options: Partial<AdsOptions>): Ads {
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: (input, init) => {
      const { url } = new Request(input);
      const body = init?.body;
      sentUrls.push(url);
      if (url.endsWith('/v1/decisions') && typeof body === 'string')
        requests.push(JSON.parse(body) as DecisionRequest);
      return service.fetch(input, init);
    },
    ...options,
  });
  return ads;
}

beforeEach(() => {
  requests.length = sentUrls.length = 0;
  service = createStubService();
});
afterEach(() => {
  ads?.destroy();
  delete window.__tcfapi;
  delete window.__gpp;
});

/** Opens a TCF consent dialog in the page. `choose` submits the player's choice. */
function openTcfDialog() {
  const listeners = new Map<number, (data: object) => void>();
  let count = 0;
  window.__tcfapi = (command, _version, callback, id) => {
    if (command === 'removeEventListener') listeners.delete(id ?? 0);
    if (command !== 'addEventListener') return;
    const listenerId = (count += 1);
    listeners.set(listenerId, callback);
    callback({ eventStatus: 'cmpuishown', listenerId });
  };
  return {
    listeners,
    choose(purposes: number[]) {
      for (const [listenerId, listener] of listeners) {
        const consents = Object.fromEntries(purposes.map((purpose) => [purpose, true]));
        listener({
          eventStatus: 'useractioncomplete',
          gdprApplies: true,
          tcString: 'CPtcf',
          listenerId,
          purpose: { consents },
        });
      }
    },
  };
}

const waitUntilReady = () =>
  eventually(() => expect(ads?.availability('revive').outcome).not.toBe('not_ready'));

describe('an SDK that reads the page’s consent', () => {
  it('sends nothing before the player has made a choice', async () => {
    const dialog = openTcfDialog();
    const { availability, mountBanner, preload, showRewarded } = start({ consent: 'page' });
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    expect(availability('revive')).toEqual({
      available: false,
      outcome: 'not_ready',
      reason: 'consent_unknown',
    });
    expect(await preload('revive')).toEqual({
      available: false,
      outcome: 'not_ready',
      reason: 'consent_unknown',
    });
    const onOpen = vi.fn();
    expect(await showRewarded('revive', { onOpen })).toEqual({
      outcome: 'not_ready',
      reason: 'consent_unknown',
    });
    const banner = mountBanner('lobby', document.body);
    expect((await banner.result).outcome).toBe('not_ready');
    expect(onOpen).not.toHaveBeenCalled();
    expect(sentUrls).toEqual([]);
  });

  it.each([
    [[1, 2, 3, 4, 7], 'granted'],
    [[1], 'denied'],
    [[], 'denied'],
  ] as const)('reads consent from TCF: purposes %j mean %s', async (purposes, status) => {
    const dialog = openTcfDialog();
    start({ consent: 'page' });
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    dialog.choose([...purposes]);
    expect((await ads?.preload('revive'))?.available).toBe(true);
    expect(requests[0]?.consent).toEqual({ status, tcf_string: 'CPtcf' });
  });

  it('detects a consent framework that loads after the game', async () => {
    start({ consent: 'page' });
    expect(ads?.availability('revive').outcome).toBe('not_ready');
    const dialog = openTcfDialog();
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    dialog.choose([1, 2, 7]);
    await waitUntilReady();
  });

  it.each([
    [0, 'unknown'],
    [1, 'denied'],
  ])('reads the GPP opt-out value %i as %s', async (SaleOptOut, status) => {
    window.__gpp = (command, callback) => {
      if (command !== 'addEventListener') return;
      callback({ listenerId: 1, pingData: { signalStatus: 'not ready' } });
      callback({
        listenerId: 1,
        pingData: {
          signalStatus: 'ready',
          gppString: 'DBgpp',
          parsedSections: { usnat: [{ SaleOptOut }, { Gpc: false }] },
        },
      });
    };
    start({ consent: 'page' });
    await waitUntilReady();
    await ads?.preload('revive');
    expect(requests[0]?.consent).toEqual({ status, gpp_string: 'DBgpp' });
  });

  it('discards preloaded ads when the player changes consent', async () => {
    const dialog = openTcfDialog();
    start({ consent: 'page' });
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    const onChange = vi.fn();
    ads?.on('change', onChange);
    dialog.choose([1, 2, 7]);
    expect(onChange).toHaveBeenCalledTimes(1);
    await ads?.preload('revive');
    dialog.choose([]);
    expect(onChange).toHaveBeenCalledTimes(3);
    await ads?.preload('revive');
    expect(requests.map(({ consent }) => consent?.status)).toEqual(['granted', 'denied']);
  });

  it('stops reading the page’s consent when the game sets consent or destroys the SDK', async () => {
    const dialog = openTcfDialog();
    start({ consent: 'page' });
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    ads?.setConsent({ status: 'denied' });
    expect(dialog.listeners.size).toBe(0);
    await ads?.preload('revive');
    expect(requests[0]?.consent).toEqual({ status: 'denied' });
    ads?.destroy();
    start({ consent: 'page' });
    await eventually(() => expect(dialog.listeners.size).toBe(1));
    ads?.destroy();
    expect(dialog.listeners.size).toBe(0);
  });
});

it('sends updated consent with the next request', async () => {
  start({ consent: { status: 'granted', tcfString: 'one' } });
  await ads?.preload('revive');
  ads?.setConsent({ status: 'denied' });
  await ads?.preload('double-coins');
  expect(requests.map(({ consent }) => consent)).toEqual([
    { status: 'granted', tcf_string: 'one' },
    { status: 'denied' },
  ]);
});

it('sends nothing that identifies the player in child-directed mode', async () => {
  start({ childDirected: true, customData: 'account 7' });
  await ads?.preload('revive');
  expect(requests[0]).toMatchObject({
    child_directed: true,
    user_ref: expect.stringMatching(/^child-[0-9]+-[0-9]+$/),
  });
  expect(JSON.stringify(requests)).not.toMatch(/player-1|account 7/);
});
