import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AdBreakOptions,
  type AdPlacement,
  type BreakType,
  createAdPlacement,
} from '../../../src/ad-placement/ad-placement.ts';
import type { Outcome } from '../../../src/outcome.ts';
import { type FakeAds, fakeAds } from './fake-ads.ts';

let log: string[];
let ads: FakeAds;
let placement: AdPlacement;
let reported: unknown[];

beforeEach(() => {
  log = [];
  reported = [];
  ads = fakeAds(log);
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
  placement = createAdPlacement(ads, {
    placements: { preroll: 'welcome', next: 'level-end', reward: 'revive', chest: 'double-coins' },
  });
});

afterEach(() => vi.unstubAllGlobals());

/** A break with every callback, each of which writes its name into the log. */
function adBreak(type: BreakType, changes: Partial<AdBreakOptions> = {}): Promise<void> {
  return new Promise((resolve) => {
    placement.adBreak({
      type,
      name: 'here',
      beforeAd: () => log.push('beforeAd'),
      afterAd: () => log.push('afterAd'),
      beforeReward(showAdFn) {
        log.push('beforeReward');
        showAdFn();
      },
      adDismissed: () => log.push('adDismissed'),
      adViewed: () => log.push('adViewed'),
      adBreakDone(info) {
        log.push(`adBreakDone ${info.breakStatus}`);
        resolve();
      },
      ...changes,
    });
  });
}

const offerOnly = { beforeReward: () => log.push('beforeReward') };

function throwing(): void {
  throw new Error('a mistake in the game');
}

/** Lets everything run that waits for nothing but promises. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('Interstitials', () => {
  test('An interstitial calls beforeAd, shows the ad, then calls afterAd and adBreakDone.', async () => {
    await adBreak('next');
    expect(log).toEqual(['show level-end', 'beforeAd', 'ad', 'afterAd', 'adBreakDone viewed']);
  });

  test('An interstitial that the player closed early counts as viewed.', async () => {
    ads.next.outcome = 'dismissed';
    await adBreak('next');
    expect(log).toEqual(['show level-end', 'beforeAd', 'ad', 'afterAd', 'adBreakDone viewed']);
  });

  test.each<[Outcome, string]>([
    ['no_fill', 'noAdPreloaded'],
    ['cooldown', 'frequencyCapped'],
    ['timeout', 'timeout'],
    ['offline', 'other'],
  ])('Without an ad for %s, only adBreakDone is called, with %s.', async (outcome, status) => {
    ads.next = { outcome, opens: false };
    await adBreak('next');
    expect(log).toEqual(['show level-end', `adBreakDone ${status}`]);
  });

  test('A preroll calls nothing but adBreakDone.', async () => {
    await adBreak('preroll');
    expect(log).toEqual(['show welcome', 'ad', 'adBreakDone viewed']);
  });

  test('A second preroll is invalid and shows nothing.', async () => {
    await adBreak('preroll');
    log.length = 0;
    await adBreak('preroll');
    expect(log).toEqual(['adBreakDone invalid']);
  });

  test('A break while an ad is on the screen ends as other, and the ad goes on.', async () => {
    let close!: () => void;
    ads.onScreen = new Promise((resolve) => (close = resolve));
    const first = adBreak('next');
    await adBreak('next');
    expect(log).toEqual([
      'show level-end',
      'beforeAd',
      'ad',
      'show level-end',
      'adBreakDone other',
    ]);
    close();
    await first;
    expect(log.slice(-2)).toEqual(['afterAd', 'adBreakDone viewed']);
  });
});

describe('Rewarded ads', () => {
  beforeEach(() => {
    ads.next.outcome = 'rewarded';
  });

  test.each<Outcome>(['rewarded', 'pending'])(
    'A watched ad (%s) calls beforeReward, beforeAd, adViewed, afterAd and adBreakDone.',
    async (outcome) => {
      ads.next.outcome = outcome;
      await adBreak('reward');
      expect(log).toEqual([
        'preload revive',
        'beforeReward',
        'show revive',
        'beforeAd',
        'ad',
        'adViewed',
        'afterAd',
        'adBreakDone viewed',
      ]);
    },
  );

  test.each<[Outcome, string]>([
    ['dismissed', 'dismissed'],
    ['denied', 'other'],
    ['stalled', 'other'],
  ])('An ad that earned nothing (%s) calls adDismissed, then afterAd.', async (outcome, status) => {
    ads.next.outcome = outcome;
    await adBreak('reward');
    expect(log.slice(2)).toEqual([
      'show revive',
      'beforeAd',
      'ad',
      'adDismissed',
      'afterAd',
      `adBreakDone ${status}`,
    ]);
  });

  test('Without an ad the reward is not offered.', async () => {
    ads.known = { available: false, reason: 'frequency_capped' };
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone frequencyCapped']);
  });

  test('The reward is not offered while another ad is on the screen.', async () => {
    ads.showing = true;
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone other']);
  });

  test('The reward is not offered where the request finds no ad.', async () => {
    ads.preload = () => Promise.resolve({ available: false, reason: 'no_fill' });
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone noAdPreloaded']);
  });

  test('An ad that was gone by the time the player accepted ends the break alone.', async () => {
    ads.next = { outcome: 'killed', opens: false };
    await adBreak('reward');
    expect(log.slice(2)).toEqual(['show revive', 'adBreakDone other']);
  });

  test('An offer that was not accepted is ignored once the next break comes.', async () => {
    const offered = adBreak('reward', offerOnly);
    await settled();
    expect(log).toEqual(['preload revive', 'beforeReward']);
    placement.adBreak({ type: 'browse' });
    await offered;
    expect(log.slice(2)).toEqual(['adBreakDone ignored']);
  });

  test('Accepting an ignored offer does nothing any more.', async () => {
    let accept!: () => void;
    const first = adBreak('reward', { beforeReward: (showAdFn) => (accept = showAdFn) });
    await settled();
    await adBreak('browse');
    await first;
    accept();
    await settled();
    expect(log).not.toContain('show revive');
  });

  test('Accepting twice shows one ad.', async () => {
    await adBreak('reward', {
      beforeReward(showAdFn) {
        showAdFn();
        showAdFn();
      },
    });
    expect(log.filter((line) => line === 'ad')).toHaveLength(1);
  });

  test('A break that was overtaken before its ad was ready is not offered.', async () => {
    const first = adBreak('reward', offerOnly);
    await adBreak('browse');
    await first;
    expect(log).not.toContain('beforeReward');
    expect(log).toContain('adBreakDone other');
  });

  test('The next break does not end a rewarded ad that is on the screen.', async () => {
    let close!: () => void;
    ads.onScreen = new Promise((resolve) => (close = resolve));
    const first = adBreak('reward');
    await settled();
    await adBreak('browse');
    close();
    await first;
    expect(log.slice(-3)).toEqual(['adViewed', 'afterAd', 'adBreakDone viewed']);
  });

  test('A name that has a placement of its own shows that one.', async () => {
    await adBreak('reward', { name: 'chest' });
    expect(log).toContain('show double-coins');
  });
});

describe('Mistakes', () => {
  test('A callback that throws ends the break with error, and the rest of the order stays.', async () => {
    ads.next.outcome = 'rewarded';
    await adBreak('reward', { adViewed: throwing });
    expect(log.slice(-2)).toEqual(['afterAd', 'adBreakDone error']);
    expect(reported).toEqual([new Error('a mistake in the game')]);
  });

  test('A game that could not get ready for the ad is spared it, and may resume.', async () => {
    await adBreak('next', { beforeAd: throwing });
    expect(log).toEqual(['show level-end', 'afterAd', 'adBreakDone error']);
  });

  test('An offer that throws shows no ad.', async () => {
    await adBreak('reward', { beforeReward: throwing });
    expect(log).toEqual(['preload revive', 'adBreakDone error']);
  });

  test('An error in adBreakDone itself is reported.', async () => {
    placement.adBreak({ type: 'browse', adBreakDone: throwing });
    await settled();
    expect(reported).toEqual([new Error('a mistake in the game')]);
  });

  test('A type without a placement is invalid.', async () => {
    await adBreak('pause');
    expect(log).toEqual(['adBreakDone invalid']);
    expect(reported).toEqual([]);
  });

  test('A name out of the object prototype is no placement.', async () => {
    await adBreak('pause', { name: 'constructor' });
    expect(log).toEqual(['adBreakDone invalid']);
  });

  test('An unknown type is invalid, and the developer is told.', async () => {
    await adBreak('postroll' as BreakType);
    expect(log).toEqual(['adBreakDone invalid']);
    expect(String(reported[0])).toContain('"postroll"');
  });

  test('A rewarded break without its callbacks is invalid, and the developer is told which.', async () => {
    const info = await new Promise((resolve) => {
      placement.adBreak({ type: 'reward', adViewed: throwing, adBreakDone: resolve });
    });
    expect(info).toEqual({
      breakType: 'reward',
      breakName: '',
      breakFormat: 'reward',
      breakStatus: 'invalid',
    });
    expect(String(reported[0])).toContain('missing: beforeReward, adDismissed');
  });
});
