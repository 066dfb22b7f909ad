import { afterEach, expect, it } from 'vitest';
import { standInGlobals } from '../../../demo/src/portals/sdks.ts';
import type { PortalBehavior } from '../../../demo/src/portals/stage.ts';
import { installStandIn } from '../../../demo/src/portals/stand-in.ts';
import {
  type AdPlacement,
  createAdPlacement,
  installAdsbygoogle,
} from '../../../src/ad-placement/index.ts';
import { type Ads, createAds } from '../../../src/index.ts';
import type { PortalName } from '../../../src/platform/find-portal.ts';
import { eventually } from '../../support/eventually.ts';

// A game written for Google's Ad Placement API, on every portal.

let ads: Ads | undefined;
afterEach(() => {
  ads?.destroy();
  for (const name of standInGlobals) Reflect.deleteProperty(globalThis, name);
});

/** Starts an ad break like a game that accepts every offer. Resolves with what the game was told, in order. */
const runBreak = ({ adBreak }: AdPlacement, type: 'reward' | 'next'): Promise<string[]> =>
  new Promise((resolve) => {
    const told: string[] = [];
    const note = (step: string) => () => void told.push(step);
    adBreak({
      type,
      name: 'level-3',
      beforeAd: note('beforeAd'),
      afterAd: note('afterAd'),
      ...(type === 'reward' && {
        beforeReward(showAd) {
          told.push('beforeReward');
          showAd();
        },
        adDismissed: note('adDismissed'),
        adViewed: note('adViewed'),
      }),
      adBreakDone: ({ breakStatus }) => resolve(told.concat(breakStatus)),
    });
  });

const portals: PortalName[] = [
  'crazygames',
  'poki',
  'gamedistribution',
  'gamesnacks',
  'google_h5',
  'yandex',
  'facebook',
  'youtube',
];

/** Starts a game on a portal that answers as given. */
async function start(portal: PortalName, answer: PortalBehavior['answer']) {
  const behavior: PortalBehavior = { answer, order: 'documented', play: async () => true };
  installStandIn(portal, behavior);
  ads = createAds({ portal, portalRewards: { revive: { type: 'lives', amount: 1 } } });
  const rewards: string[] = [];
  ads.on('reward', (reward) => void rewards.push(reward.placement));
  const placement = createAdPlacement(ads, {
    placements: { interstitial: 'level-end', reward: 'revive' },
    frequencyHint: '60s',
  });
  await new Promise<void>((resolve) => placement.adConfig({ onReady: resolve }));
  return { behavior, placement, rewards };
}

it.each(portals)('runs ad breaks on %s', async (portal) => {
  const { behavior, placement, rewards } = await start(portal, 'ad');
  const opened = ['beforeAd', 'afterAd'];
  expect(await runBreak(placement, 'next')).toEqual([...opened, 'viewed']);
  expect(await runBreak(placement, 'next')).toEqual(['frequencyCapped']);
  expect(await runBreak(placement, 'reward')).toEqual([
    'beforeReward',
    'beforeAd',
    'adViewed',
    'afterAd',
    'viewed',
  ]);
  await eventually(() => expect(rewards).toEqual(['revive']));
  behavior.play = async () => false;
  expect(await runBreak(placement, 'reward')).toEqual([
    'beforeReward',
    'beforeAd',
    'adDismissed',
    'afterAd',
    // On CrazyGames, an ad that was closed looks like one that failed.
    portal === 'crazygames' ? 'other' : 'dismissed',
  ]);
});

it('says why Google’s own ads can’t be shown through a page’s `adsbygoogle`', async () => {
  const page = window as { adsbygoogle?: unknown; adBreak?: unknown; adConfig?: unknown };
  page.adsbygoogle = [];
  ads = createAds({ portal: 'google_h5', portalRewards: {} });
  installAdsbygoogle(createAdPlacement(ads, { placements: { interstitial: 'level-end' } }));
  const { outcome, detail } = await ads.showInterstitial('level-end');
  expect([outcome, detail]).toEqual(['ad_blocked', expect.stringContaining('createAdPlacement()')]);
  delete page.adBreak;
  delete page.adConfig;
});

it.each(portals)(
  'tells no player on %s that an ad without a fill was dismissed',
  async (portal) => {
    const { placement } = await start(portal, 'no_fill');
    const [status = '', ...told] = (await runBreak(placement, 'reward')).toReversed();
    expect(status).toBe('noAdPreloaded');
    expect(told).not.toContain('adDismissed');
    expect(told.includes('beforeAd')).toBe(told.includes('afterAd'));
  },
);
