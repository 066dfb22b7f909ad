import { afterEach, beforeEach, expect, it } from 'vitest';
import { click } from '../engine/real-input.ts';
import type { AdLimit } from '../../../protocol/wire.ts';
import { createAdPlacement } from '../../../src/ad-placement/index.ts';
import { createCocosAds } from '../../../src/cocos/index.ts';
import { type Ads, type AdsOptions, createAds } from '../../../src/index.ts';
import { TruewardPlugin } from '../../../src/phaser/index.ts';
import { createCocosEngine } from '../../fakes/cocos-engine.ts';
import { eventually } from '../../support/eventually.ts';
import {
  createPublishableKey,
  createStubService,
  picture,
  type StubService,
  readyLabel,
} from '../../support/stub-service.ts';
import { bootGame, nextStep, phaser4 } from '../phaser/phaser-games.ts';

// The drop-in and the engines' adapters obey ad rules without any code in the game.

const rules: AdLimit[] = [
  { formats: ['rewarded'], gap_s: 5_400 },
  { formats: ['interstitial'], gap_s: 3_600, gap_after: ['rewarded'] },
];

let service: StubService;
let options: AdsOptions;
let ads: Ads | undefined;
let startedAtMs: number;

beforeEach(() => {
  startedAtMs = Date.now();
  document.body.replaceChildren();
  service = createStubService();
  service.respond = ({ placement }) => ({
    ...picture(200),
    format: placement === 'revive' ? 'rewarded' : 'interstitial',
    ad_rules: { version: '1', rules },
  });
  options = {
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch: service.fetch,
    userRef: 'player',
  };
});
afterEach(() => ads?.destroy());

/** Expects what the rules say after a rewarded ad, and that nobody asked the service for the next one. */
const expectHeld = (held: Ads): void => {
  for (const [placement, waitS] of [
    ['revive', 5_400],
    ['level-end', 3_600],
  ] as const) {
    const { outcome, retryAt } = held.availability(placement);
    expect([placement, outcome]).toEqual([placement, 'frequency_capped']);
    // The ad was seen after the test began.
    const sinceS = ((retryAt?.getTime() ?? 0) - startedAtMs) / 1_000;
    expect(sinceS).toBeGreaterThan(waitS);
    expect(retryAt?.getTime()).toBeLessThanOrEqual(Date.now() + waitS * 1_000);
  }
  expect(service.requested).toEqual(['revive']);
};

it('Google’s drop-in ends held breaks as frequencyCapped', async () => {
  ads = createAds(options);
  const { adBreak } = createAdPlacement(ads, {
    placements: { reward: 'revive', next: 'level-end' },
  });
  const run = (type: 'reward' | 'next'): Promise<string> =>
    new Promise((resolve) =>
      adBreak({
        type,
        ...(type === 'reward' && {
          beforeReward: (show: () => void) => show(),
          adDismissed: () => undefined,
          adViewed: () => undefined,
        }),
        adBreakDone: ({ breakStatus }) => resolve(breakStatus),
      }),
    );
  expect([await run('reward'), await run('next'), await run('reward')]).toEqual([
    'viewed',
    'frequencyCapped',
    'frequencyCapped',
  ]);
  expectHeld(ads);
});

it('Phaser’s button counts down to the time that the rules allow', async () => {
  const { game, scene, end } = await bootGame(await phaser4.load(), {
    fps: { smoothStep: false },
  });
  const { userRef: _, ...given } = options;
  const plugin = TruewardPlugin.install(game, { ...given, locale: 'en' });
  scene.ads.addRewardedButton({ placement: 'revive', x: 100, y: 60 });
  const label = () => game.canvas.querySelector('button')?.textContent;
  await eventually(() => expect(label()).toBe(readyLabel));
  await nextStep(game);
  await click(game.canvas);
  await eventually(() => expect(label()).toMatch(/^Next ad in \d\d:\d\d$/));
  expect((await plugin.showInterstitial('level-end')).outcome).toBe('frequency_capped');
  expectHeld(plugin);
  await end();
});

it('Cocos Creator’s ads know the time, also after a reload', async () => {
  const engine = createCocosEngine();
  ads = createCocosAds(engine, options);
  const shown = ads.showRewarded('revive');
  const frames = setInterval(() => engine.tick(16), 16);
  expect((await shown).outcome).toBe('rewarded');
  clearInterval(frames);
  expect((await ads.showInterstitial('level-end')).outcome).toBe('frequency_capped');
  expectHeld(ads);
  // A page that is left becomes hidden first.
  document.dispatchEvent(new Event('visibilitychange'));
  ads.destroy();
  ads = createCocosAds(createCocosEngine(), options);
  expectHeld(ads);
});
