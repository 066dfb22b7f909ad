import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdPlacement, createAdPlacement } from '../../../src/ad-placement/ad-placement.ts';
import type { AdBreakOptions, BreakType } from '../../../src/ad-placement/run-break.ts';
import type { Outcome } from '../../../src/outcome.ts';
import { type FakeAds, createFakeAds } from './fake-ads.ts';

let log: string[];
let ads: FakeAds;
let placement: AdPlacement;
let reportedErrors: unknown[];

beforeEach(() => {
  log = [];
  reportedErrors = [];
  ads = createFakeAds(log);
  vi.stubGlobal('reportError', (error: unknown) => reportedErrors.push(error));
  placement = createAdPlacement(ads, {
    placements: { preroll: 'welcome', next: 'level-end', reward: 'revive', chest: 'double-coins' },
  });
});

afterEach(() => vi.unstubAllGlobals());

/** Requests a break with every callback set. Each callback logs its name. */
function adBreak(type: BreakType, overrides: Partial<AdBreakOptions> = {}): Promise<void> {
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
      ...overrides,
    });
  });
}

const offerOnly = { beforeReward: () => log.push('beforeReward') };

function throwError(): void {
  throw new Error('an error in the game');
}

/** Runs all pending microtasks. */
const runMicrotasks = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('interstitials', () => {
  test('an interstitial calls beforeAd, shows the ad, then calls afterAd and adBreakDone', async () => {
    await adBreak('next');
    expect(log).toEqual(['show level-end', 'beforeAd', 'ad', 'afterAd', 'adBreakDone viewed']);
  });

  test('an interstitial that the player closes early counts as viewed', async () => {
    ads.nextAd.outcome = 'dismissed';
    await adBreak('next');
    expect(log).toEqual(['show level-end', 'beforeAd', 'ad', 'afterAd', 'adBreakDone viewed']);
  });

  test.each<[Outcome, string]>([
    ['no_fill', 'noAdPreloaded'],
    ['cooldown', 'frequencyCapped'],
    ['timeout', 'timeout'],
    ['offline', 'other'],
  ])(
    'without an ad (%s), adBreak() only calls adBreakDone, with breakStatus %s',
    async (outcome, status) => {
      ads.nextAd = { outcome, opens: false };
      await adBreak('next');
      expect(log).toEqual(['show level-end', `adBreakDone ${status}`]);
    },
  );

  test('a preroll calls only adBreakDone', async () => {
    await adBreak('preroll');
    expect(log).toEqual(['show welcome', 'ad', 'adBreakDone viewed']);
  });

  test('a second preroll is invalid and shows no ad', async () => {
    await adBreak('preroll');
    log.length = 0;
    await adBreak('preroll');
    expect(log).toEqual(['adBreakDone invalid']);
  });

  test('a break that starts during another ad ends with status other', async () => {
    let close!: () => void;
    ads.untilClosed = new Promise((resolve) => (close = resolve));
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

describe('rewarded ads', () => {
  beforeEach(() => {
    ads.nextAd.outcome = 'rewarded';
  });

  test.each<Outcome>(['rewarded', 'pending'])(
    'a watched ad (%s) calls beforeReward, beforeAd, adViewed, afterAd and adBreakDone',
    async (outcome) => {
      ads.nextAd.outcome = outcome;
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
  ])('an ad that earns no reward (%s) calls adDismissed, then afterAd', async (outcome, status) => {
    ads.nextAd.outcome = outcome;
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

  test('does not offer a reward when no ad is available', async () => {
    ads.currentAvailability = { available: false, outcome: 'frequency_capped' };
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone frequencyCapped']);
  });

  test('does not offer a reward while another ad is on the screen', async () => {
    ads.showing = true;
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone other']);
  });

  test('does not offer a reward when the ad request is not filled', async () => {
    ads.preload = () => Promise.resolve({ available: false, outcome: 'no_fill' });
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone noAdPreloaded']);
  });

  test('calls only adBreakDone if the ad is no longer available when the player accepts', async () => {
    ads.nextAd = { outcome: 'killed', opens: false };
    await adBreak('reward');
    expect(log.slice(2)).toEqual(['show revive', 'adBreakDone other']);
  });

  test('the next break ends an open offer with status ignored', async () => {
    const firstBreak = adBreak('reward', offerOnly);
    await runMicrotasks();
    expect(log).toEqual(['preload revive', 'beforeReward']);
    placement.adBreak({ type: 'browse' });
    await firstBreak;
    expect(log.slice(2)).toEqual(['adBreakDone ignored']);
  });

  test('an ignored offer can no longer be accepted', async () => {
    let accept!: () => void;
    const first = adBreak('reward', { beforeReward: (showAdFn) => (accept = showAdFn) });
    await runMicrotasks();
    await adBreak('browse');
    await first;
    accept();
    await runMicrotasks();
    expect(log).not.toContain('show revive');
  });

  test('accepting twice shows only one ad', async () => {
    await adBreak('reward', {
      beforeReward(showAdFn) {
        showAdFn();
        showAdFn();
      },
    });
    expect(log.filter((line) => line === 'ad')).toHaveLength(1);
  });

  test('a break does not offer a reward if another break starts before the first break’s ad is ready', async () => {
    const first = adBreak('reward', offerOnly);
    await adBreak('browse');
    await first;
    expect(log).not.toContain('beforeReward');
    expect(log).toContain('adBreakDone other');
  });

  test('the next break does not end a rewarded ad that is on the screen', async () => {
    let close!: () => void;
    ads.untilClosed = new Promise((resolve) => (close = resolve));
    const first = adBreak('reward');
    await runMicrotasks();
    await adBreak('browse');
    close();
    await first;
    expect(log.slice(-3)).toEqual(['adViewed', 'afterAd', 'adBreakDone viewed']);
  });

  test('a break shows an ad for the placement that its name maps to', async () => {
    await adBreak('reward', { name: 'chest' });
    expect(log).toContain('show double-coins');
  });
});

describe('errors in the game', () => {
  test('a callback that throws ends the break with status error but does not skip the later callbacks', async () => {
    ads.nextAd.outcome = 'rewarded';
    await adBreak('reward', { adViewed: throwError });
    expect(log.slice(-2)).toEqual(['afterAd', 'adBreakDone error']);
    expect(reportedErrors).toEqual([new Error('an error in the game')]);
  });

  test('shows no ad and lets the game resume if beforeAd throws', async () => {
    await adBreak('next', { beforeAd: throwError });
    expect(log).toEqual(['show level-end', 'afterAd', 'adBreakDone error']);
  });

  test('shows no ad if beforeReward throws', async () => {
    await adBreak('reward', { beforeReward: throwError });
    expect(log).toEqual(['preload revive', 'adBreakDone error']);
  });

  test('an error in adBreakDone is reported', async () => {
    placement.adBreak({ type: 'browse', adBreakDone: throwError });
    await runMicrotasks();
    expect(reportedErrors).toEqual([new Error('an error in the game')]);
  });

  test('a type without a placement is invalid', async () => {
    await adBreak('pause');
    expect(log).toEqual(['adBreakDone invalid']);
    expect(reportedErrors).toEqual([]);
  });

  test('a property name from Object.prototype is not treated as a placement', async () => {
    await adBreak('pause', { name: 'constructor' });
    expect(log).toEqual(['adBreakDone invalid']);
  });

  test('an unknown type is invalid and reported as an error', async () => {
    await adBreak('postroll' as BreakType);
    expect(log).toEqual(['adBreakDone invalid']);
    expect(String(reportedErrors[0])).toContain('"postroll"');
  });

  test('the error for a rewarded break without its callbacks lists the missing callbacks', async () => {
    const info = await new Promise((resolve) => {
      placement.adBreak({ type: 'reward', adViewed: throwError, adBreakDone: resolve });
    });
    expect(info).toEqual({
      breakType: 'reward',
      breakName: '',
      breakFormat: 'reward',
      breakStatus: 'invalid',
    });
    expect(String(reportedErrors[0])).toContain('missing: beforeReward, adDismissed');
  });
});
