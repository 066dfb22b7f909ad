import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AdPlacement, createAdPlacement } from '../../../src/ad-placement/ad-placement.ts';
import type { AdBreakOptions, BreakType } from '../../../src/ad-placement/run-break.ts';
import type { Outcome } from '../../../src/outcome.ts';
import { native } from '../../../src/platform/native.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { type FakeAds, createFakeAds } from './fake-ads.ts';

let log: string[];
let ads: FakeAds;
let placement: AdPlacement;
let reportedErrors: unknown[];
let warnings: string[];
let clock: ManualClock;

beforeEach(() => {
  log = [];
  reportedErrors = [];
  ads = createFakeAds(log);
  clock = createManualClock();
  vi.stubGlobal('reportError', (error: unknown) => reportedErrors.push(error));
  vi.spyOn(native, 'isHidden').mockReturnValue(false);
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => warnings.push(text));
  placement = createAdPlacement(
    ads,
    {
      placements: {
        preroll: 'welcome',
        next: 'level-end',
        reward: 'revive',
        chest: 'double-coins',
      },
    },
    clock,
  );
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

  test('the frequency hint 0s sets no limit', async () => {
    placement = createAdPlacement(
      ads,
      { placements: { next: 'level-end' }, frequencyHint: '0s' },
      clock,
    );
    await adBreak('next');
    await adBreak('next');
    expect(log.filter((line) => line === 'ad')).toHaveLength(2);
  });

  test('a second preroll is invalid and shows no ad', async () => {
    await adBreak('preroll');
    log.length = 0;
    await adBreak('preroll');
    expect(log).toEqual(['adBreakDone invalid']);
    expect(warnings.join()).toContain('only one ad break of type preroll');
  });

  test('an ad that is not loaded within a second is shown in the next break', async () => {
    let finishLoading!: () => void;
    ads.untilLoaded = new Promise((resolve) => (finishLoading = resolve));
    const late = adBreak('next');
    await clock.advance(1_000);
    await late;
    finishLoading();
    await runMicrotasks();
    expect(log.splice(0)).toEqual(['adBreakDone noAdPreloaded']);
    await adBreak('next');
    expect(log).toEqual(['show level-end', 'beforeAd', 'ad', 'afterAd', 'adBreakDone viewed']);
  });

  test.each([
    [undefined, 120],
    ['30s', 30],
    [' 45 S', 45],
    ['600', 600],
    ['often', 120],
    ['', 120],
    ['-5s', 120],
    ['86400', 86_400],
    ['86401', 120],
  ])('with the frequency hint %j, there are %i s between interstitials', async (hint, seconds) => {
    const placements = { interstitial: 'level-end', reward: 'revive' };
    placement = createAdPlacement(
      ads,
      { placements, ...(hint !== undefined && { frequencyHint: hint }) },
      clock,
    );
    await adBreak('start');
    await clock.advance(seconds * 1_000 - 1);
    log.length = 0;
    await adBreak('next');
    expect(log.splice(0)).toEqual(['adBreakDone frequencyCapped']);
    ads.nextAd.outcome = 'rewarded';
    await adBreak('reward');
    expect(log.splice(0)).toContain('adBreakDone viewed');
    ads.nextAd.outcome = 'completed';
    await clock.advance(1);
    await adBreak('next');
    expect(log).toContain('show level-end');
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
    expect(log.slice(1)).toEqual([
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
    expect(log.slice(1)).toEqual(['show revive', 'adBreakDone other']);
  });

  test('the next break ends an open offer with status ignored', async () => {
    const firstBreak = adBreak('reward', offerOnly);
    await runMicrotasks();
    expect(log).toEqual(['beforeReward']);
    placement.adBreak({ type: 'browse' });
    await firstBreak;
    expect(log.slice(1)).toEqual(['adBreakDone ignored']);
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

  test.each(['chest', 'Chest', ' CHEST '])('the name %j maps to a placement', async (name) => {
    await adBreak('reward', { name });
    expect(log).toContain('show double-coins');
  });

  test('a name with spaces maps to the placement of the name with hyphens', async () => {
    placement = createAdPlacement(ads, { placements: { 'treasure-chest': 'double-coins' } }, clock);
    await adBreak('reward', { name: 'Treasure Chest' });
    expect(log).toContain('show double-coins');
  });

  test('a name that is also a type says nothing about the placement', async () => {
    await adBreak('next', { name: 'reward' });
    await adBreak('reward', { name: 'interstitial' });
    expect(log.filter((line) => line.startsWith('show'))).toEqual([
      'show level-end',
      'show revive',
    ]);
  });

  test('offers nothing if the placement has another format', async () => {
    ads.currentAvailability = { available: true };
    ads.preload = async () => ({ available: false, outcome: 'invalid_placement' });
    await adBreak('reward');
    expect(log).toEqual(['adBreakDone invalid']);
    expect(warnings.join()).toContain('the placement revive');
  });

  test('the sound setting may change until the player accepts', async () => {
    await adBreak('reward', {
      beforeReward(showAdFn) {
        placement.adConfig({ sound: 'off' });
        showAdFn();
      },
    });
    expect(log).toContain('show revive muted: true');
  });

  test('the callbacks’ names from the first versions of the API work too', async () => {
    const oldCallbacks = Object.fromEntries(
      ['beforeBreak', 'afterBreak', 'adComplete'].map((name) => [name, () => log.push(name)]),
    );
    await adBreak('reward', {
      ...oldCallbacks,
      beforeAd: undefined,
      afterAd: undefined,
      adViewed: undefined,
    } as never);
    expect(log.slice(2)).toEqual([
      'beforeBreak',
      'ad',
      'adComplete',
      'afterBreak',
      'adBreakDone viewed',
    ]);
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
    expect(log).toEqual(['adBreakDone error']);
  });

  test('an error in adBreakDone is reported', async () => {
    placement.adBreak({ type: 'browse', adBreakDone: throwError });
    await runMicrotasks();
    expect(reportedErrors).toEqual([new Error('an error in the game')]);
  });

  test('a type without a placement is invalid, and the developer is warned once', async () => {
    await adBreak('pause', { name: 'unmapped' });
    await adBreak('pause', { name: 'unmapped' });
    expect(log).toEqual(['adBreakDone invalid', 'adBreakDone invalid']);
    expect(reportedErrors).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('type pause and name "unmapped"')]);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'must be an object; got undefined'],
    ['null', null, 'must be an object; got null'],
    ['a string', 'next', 'must be an object; got "next"'],
    ['a function', () => undefined, 'must be an object; got function'],
    ['an object without a type', { name: 'x' }, 'the type must be one of preroll'],
    ['a type of another case', { type: 'Next' }, 'got "Next"'],
    [
      'a callback that is no function',
      { type: 'next', beforeAd: 'pause' },
      '`beforeAd` must be a function; got "pause"',
    ],
    [
      'a getter that throws',
      Object.defineProperty({}, 'type', { get: throwError }),
      'the type must be',
    ],
  ])('adBreak() with %s reports an error and never throws', async (_, value, error) => {
    let status: string | undefined;
    const done = { adBreakDone: (info: { breakStatus: string }) => (status = info.breakStatus) };
    const isObject = typeof value === 'object' && value !== null;
    expect(() =>
      placement.adBreak(
        (isObject
          ? Object.defineProperties(done, Object.getOwnPropertyDescriptors(value))
          : value) as never,
      ),
    ).not.toThrow();
    await runMicrotasks();
    expect(String(reportedErrors)).toContain(error);
    expect(status).toBe(isObject ? 'invalid' : undefined);
    expect(log).toEqual([]);
  });

  test.each([
    undefined,
    null,
    'on',
    { sound: 'loud' },
    { preloadAdBreaks: true },
    { onReady: 'x' },
  ])('adConfig(%j) never throws and has no effect', async (value) => {
    expect(() => placement.adConfig(value as never)).not.toThrow();
    await adBreak('next');
    expect(log[0]).toBe('show level-end');
  });

  test('a misspelled option is named once', async () => {
    for (const _ of [1, 2]) placement.adBreak({ type: 'next', beforAd: throwError } as never);
    await runMicrotasks();
    expect(warnings).toEqual(['trueward: adBreak() ignores `beforAd`.']);
  });

  test('the callbacks may be methods of a class, whose `this` they keep', async () => {
    class Break {
      type = 'next' as const;
      muted = false;
      beforeAd() {
        this.muted = true;
      }
    }
    const instance = new Break();
    placement.adBreak(instance);
    await runMicrotasks();
    expect(instance.muted).toBe(true);
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
