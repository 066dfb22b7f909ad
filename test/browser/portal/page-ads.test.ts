import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { standInGlobals } from '../../../demo/src/portals/sdks.ts';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import { installStandIn } from '../../../demo/src/portals/stand-in.ts';
import type { Decision, DecisionRequest } from '../../../protocol/wire.ts';
import { type Ads, type AdsOptions, createAds, type PortalAdapter } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';

// Google's H5 ads, and an ad SDK of one's own, as sources of the service's decision on one's own page.

let ads: Ads;
let service: ReturnType<typeof createStubService>;
let requests: DecisionRequest[];
const behavior: PortalBehavior = { answer: 'ad', order: 'documented', play: async () => true };
const game = { holds: 0, told: [] as string[] };

beforeEach(() => {
  service = createStubService();
  requests = [];
  game.told = [];
  Object.assign(behavior, { answer: 'ad', order: 'documented', play: async () => true });
  service.respond = (request) => {
    requests.push(request);
    return decide(request);
  };
});
afterEach(() => {
  ads?.destroy();
  for (const name of standInGlobals) Reflect.deleteProperty(globalThis, name);
  expect(game.holds).toBe(0);
});

/** Like the service: the page's ad SDKs take their turn in the order of their sources, then the house ad. */
function decide({ page_adapters: [adapter] = [], placement }: DecisionRequest): Partial<Decision> {
  const format = placement === 'level-end' ? 'interstitial' : 'rewarded';
  if (adapter === undefined) return { ...picture(200), format };
  return { format, creative: { media: { format: 'page', adapter }, alt: '' } };
}

type PageAds = NonNullable<AdsOptions['pageAds']>;
const never = () => new Promise<never>(() => undefined);

/** Starts a game whose page has these ad SDKs, and waits until the first is ready. */
async function start(pageAds: PageAds): Promise<void> {
  installStandIn('google_h5', behavior);
  ads = create(pageAds);
  for (const event of ['open', 'start', 'close'] as const)
    ads.on(event, () => void game.told.push(event));
  // A placement that no other call uses: each request lists what is ready.
  for (let probe = 0; requests.every(({ page_adapters: listed }) => !listed); probe += 1)
    await ads.preload(`probe-${probe}`);
  requests.length = 0;
  service.events.length = 0;
}

const create = (pageAds: PageAds): Ads =>
  createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    pageAds,
    engine: {
      hold() {
        game.holds += 1;
        return () => (game.holds -= 1);
      },
      onFrame: (callback) => {
        const timer = setInterval(callback, 10);
        return () => clearInterval(timer);
      },
      focusTarget: () => null,
    },
  });
const types = (): string[] => service.events.map(({ type }) => type);
const adapters = () => requests.map(({ page_adapters: listed }) => listed);

const custom = (answer: () => ReturnType<PortalAdapter['show']>): PortalAdapter => ({
  name: 'network',
  load() {},
  show(_kind, _placement, { onStart }) {
    onStart();
    return answer();
  },
});

it('a page ad is shown, reported and rewarded like any other, and nothing is invented', async () => {
  await start(['google_h5']);
  const rewarded = new Promise((resolve) => ads.on('reward', resolve));
  const result = await ads.showRewarded('revive');
  expect(result).toMatchObject({ outcome: 'rewarded', reward: { type: 'coins', amount: 50 } });
  await rewarded;
  await eventually(() => expect(types()).toEqual(['start', 'complete', 'close']));
  expect(service.events.filter(({ visible, watched_ms: ms }) => visible ?? ms)).toEqual([]);
  expect(game.told).toEqual(['open', 'start', 'close']);
  expect(adapters()).toEqual([['google_h5']]);
});

it('a preloaded page ad needs no other request', async () => {
  await start(['google_h5']);
  expect(await ads.preload('revive')).toMatchObject({ available: true });
  expect(ads.isLoaded('revive')).toBe(true);
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
  expect(adapters()).toEqual([['google_h5']]);
});

/** The ads of Google that a page can't show, and in which step that is known. */
const withoutAd: [PortalBehavior['answer'], 'showRewarded' | 'showInterstitial', string][] = [
  ['no_fill', 'showRewarded', 'no_fill'],
  ['exception', 'showRewarded', 'no_fill'],
  ['no_fill', 'showInterstitial', 'noAdPreloaded'],
  ['capped', 'showInterstitial', 'frequencyCapped'],
  ['failure', 'showInterstitial', 'error'],
];
it.each(rowsForRun(withoutAd, 2))(
  'if Google answers %s to %s, the next ad is shown',
  async (answer, call, detail) => {
    await start(['google_h5']);
    behavior.answer = answer;
    const placement = call === 'showRewarded' ? 'revive' : 'level-end';
    const result = ads[call](placement);
    expect((await result).outcome).toBe(call === 'showRewarded' ? 'rewarded' : 'completed');
    expect(adapters()).toEqual([['google_h5'], undefined]);
    expect(game.told).toEqual(['open', 'start', 'close']);
    const [first] = service.events;
    expect(first).toMatchObject({ type: 'error', detail });
    // For a while, it is not asked again for this placement.
    behavior.answer = 'ad';
    void ads.preload(placement, { segments: ['again'] });
    void ads.preload('other');
    await eventually(() => expect(adapters().slice(2)).toEqual([undefined, ['google_h5']]));
  },
);

it('with no other ad either, the call ends with the service’s reason', async () => {
  await start(['google_h5']);
  behavior.answer = 'no_fill';
  service.respond = (request) => {
    requests.push(request);
    return request.page_adapters
      ? decide(request)
      : { status: 'no_fill', reason: 'no_candidates', creative: undefined as never };
  };
  expect(await ads.showRewarded('revive')).toMatchObject({ outcome: 'no_fill' });
  expect(await ads.showInterstitial('level-end')).toMatchObject({ outcome: 'no_fill' });
  expect(requests).toHaveLength(4);
  expect(game.told).toEqual(['open', 'close']);
});

it('a service that insists on the page’s ad is asked twice', async () => {
  await start(['google_h5']);
  behavior.answer = 'no_fill';
  service.respond = (request) => {
    requests.push(request);
    return decide({ ...request, page_adapters: ['google_h5'] });
  };
  expect(await ads.showRewarded('revive')).toMatchObject({ outcome: 'error' });
  expect(requests).toHaveLength(2);
});

it('an ad that the player closes earns nothing', async () => {
  await start(['google_h5']);
  behavior.play = async () => false;
  expect(await ads.showRewarded('revive')).toMatchObject({ outcome: 'dismissed' });
  await eventually(() => expect(types()).toEqual(['start', 'skip', 'close']));
});

it.each<[string, () => ReturnType<PortalAdapter['show']>, string, string[]]>([
  ['fails', () => Promise.reject(new Error('boom')), 'error', ['start', 'error', 'close']],
  ['lies', async () => 'yes' as never, 'error', ['start', 'error', 'close']],
  ['completes', async () => 'completed' as const, 'rewarded', ['start', 'complete', 'close']],
])('an adapter of one’s own that %s', async (_case, answer, outcome, events) => {
  await start([custom(answer)]);
  expect((await ads.showRewarded('revive')).outcome).toBe(outcome);
  expect(adapters()).toEqual([['custom:network']]);
  await eventually(() => expect(types()).toEqual(events));
});

/** What a game may pass by mistake, and what it is told. Its other ads are loaded as usual. */
const mistakes: [string, unknown, RegExp][] = [
  ['no list', 'google_h5', /must be a list .* got "google_h5"/],
  ['a portal', ['poki'], /must be a list .* got "poki"/],
  [
    'a name that the service would refuse',
    [{ ...custom(never), name: 'My Network' }],
    /got "My Network"/,
  ],
  ['an adapter without show()', [{ name: 'network', load() {} }], /got "network"/],
  ['nothing', [undefined], /got undefined/],
  [
    'an adapter that can’t be loaded',
    [{ ...custom(never), load: () => Promise.reject(new Error('blocked')) }],
    /could not be loaded: blocked/,
  ],
];
it.each(mistakes)('explains what is wrong with %s', async (_case, pageAds, message) => {
  const errors: string[] = [];
  const note = (event: ErrorEvent): void => {
    event.preventDefault();
    errors.push(event.message);
  };
  window.addEventListener('error', note);
  ads = create(pageAds as never);
  await eventually(() => expect(errors).toEqual([expect.stringMatching(message)]));
  window.removeEventListener('error', note);
  expect(await ads.preload('revive')).toMatchObject({ available: true });
  expect(adapters()).toEqual([undefined]);
});

it('on a portal, the ad SDKs of the page are not used', async () => {
  installStandIn('google_h5', behavior);
  const portalRewards = { revive: { type: 'lives', amount: 1 } };
  const load = vi.fn();
  ads = createAds({ portal: 'google_h5', portalRewards, pageAds: [{ ...custom(never), load }] });
  await eventually(() => expect(ads.canShow('revive')).toBe(true));
  expect(await ads.showRewarded('revive')).toMatchObject({ evidence: 'client_attested' });
  expect(load).not.toHaveBeenCalled();
});
