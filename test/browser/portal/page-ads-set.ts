import { afterEach, beforeEach, expect } from 'vitest';
import { standInGlobals } from '../../../demo/src/portals/sdks.ts';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import { installStandIn } from '../../../demo/src/portals/stand-in.ts';
import type { Decision, DecisionRequest } from '../../../protocol/wire.ts';
import { type Ads, type AdsOptions, createAds, type PortalAdapter } from '../../../src/index.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';

type PageAds = NonNullable<AdsOptions['pageAds']>;

/** A page of one's own with a game, its service, and the stand-in for Google's H5 ads. */
export interface PageAdsPage {
  ads: Ads;
  /** How Google's stand-in behaves. */
  behavior: PortalBehavior;
  /** What the game was told, in order. */
  told: string[];
  service: ReturnType<typeof createStubService>;
  requests: DecisionRequest[];
  /** Starts a game whose page has these ad SDKs, and waits until all of them are ready. */
  start(pageAds: PageAds): Promise<void>;
  /** Starts a game whose page has these ad SDKs. */
  create(pageAds: PageAds): Ads;
  /** Returns the types of the reported events, in order. */
  types(): string[];
  /** Returns the ad SDKs that each request has listed. */
  adapters(): (string[] | undefined)[];
}

/** Like the service: the page's ad SDKs take their turn in the order of their sources, then the house ad. */
export function decide({
  page_adapters: [adapter] = [],
  placement,
}: Pick<DecisionRequest, 'page_adapters' | 'placement'>): Partial<Decision> {
  const format = placement === 'level-end' ? 'interstitial' : 'rewarded';
  if (adapter === undefined) return { ...picture(200), format };
  return { format, creative: { media: { format: 'page', adapter }, alt: '' } };
}

/** Creates an ad SDK of one's own. */
export const custom = (
  answer: () => ReturnType<PortalAdapter['show']>,
  name = 'network',
): PortalAdapter => ({
  name,
  load() {},
  show(_kind, _placement, { onStart }) {
    onStart();
    return answer();
  },
});

/** Sets up a page for each test. Afterwards, the game must not be held anymore. */
export function usePageAds(): PageAdsPage {
  const game = { holds: 0 };
  const page: PageAdsPage = {
    ads: undefined as never,
    service: undefined as never,
    behavior: { answer: 'ad', order: 'documented', play: async () => true },
    told: [],
    requests: [],
    async start(pageAds) {
      installStandIn('google_h5', page.behavior);
      page.ads = page.create(pageAds);
      for (const event of ['open', 'start', 'close'] as const)
        page.ads.on(event, () => void page.told.push(event));
      // A placement that no other call uses: each request lists what is ready.
      const isReady = () => page.requests.at(-1)?.page_adapters?.length === pageAds.length;
      for (let probe = 0; !isReady(); probe += 1) await page.ads.preload(`probe-${probe}`);
      page.requests.length = 0;
      page.service.events.length = 0;
    },
    create: (pageAds) =>
      createAds({
        publishableKey: createPublishableKey(),
        serviceUrl: 'https://ads.test',
        userRef: 'player-1',
        fetch: page.service.fetch,
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
      }),
    types: () => page.service.events.map(({ type }) => type),
    adapters: () => page.requests.map(({ page_adapters: listed }) => listed),
  };
  beforeEach(() => {
    page.service = createStubService();
    page.requests.length = 0;
    page.told.length = 0;
    Object.assign(page.behavior, { answer: 'ad', order: 'documented', play: async () => true });
    page.service.respond = (request) => {
      page.requests.push(request);
      return decide(request);
    };
  });
  afterEach(() => {
    page.ads?.destroy();
    for (const name of standInGlobals) Reflect.deleteProperty(globalThis, name);
    expect(game.holds).toBe(0);
  });
  return page;
}
