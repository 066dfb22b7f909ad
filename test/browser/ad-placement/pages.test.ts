import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { page as browserPage } from 'vitest/browser';
import type { DecisionRequest } from '../../../protocol/wire.ts';
import { createAdPlacement, installAdsbygoogle } from '../../../src/ad-placement/index.ts';
import { type Ads, createAds } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { rowsForRun } from '../../support/quick-run.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';

// Pages written for Google's API, in the ways in which engines, wrappers and games call it.

type Options = Record<string, unknown>;
type Show = () => void;
interface GooglePage {
  adsbygoogle?: { push(entry: unknown): void };
  adBreak?: (options: Options) => void;
  adConfig?: (options: Options) => void;
}

const google = window as unknown as GooglePage;
let log: string[];
let ads: Ads;
let network: Network;

/** Records a callback, with the break's status. */
const record =
  (name: string) =>
  (info?: unknown): void =>
    void log.push(
      [name, (info as { breakStatus?: string } | undefined)?.breakStatus].filter(Boolean).join(' '),
    );
const callbacks = (names: string[]): Options =>
  Object.fromEntries(names.map((name) => [name, record(name)]));
const around = ['beforeAd', 'afterAd', 'adBreakDone'];
const interstitial = (more: Options = {}): Options => ({
  type: 'next',
  ...callbacks(around),
  ...more,
});
const accept = (show: Show): void => {
  log.push('beforeReward');
  show();
};
const rewarded = (more: Options = {}): Options => ({
  type: 'reward',
  ...callbacks([...around, 'adDismissed', 'adViewed']),
  beforeReward: accept,
  ...more,
});
const push = (options: unknown): void => google.adsbygoogle?.push(options);

const shown = ['beforeAd', 'afterAd', 'adBreakDone viewed'];
const watched = ['beforeReward', 'beforeAd', 'adViewed', 'afterAd', 'adBreakDone viewed'];
const other = ['adBreakDone other'];
const late = ['adBreakDone noAdPreloaded'];

interface Shape {
  /** Runs before the script has loaded. */
  before?(): void;
  /** Runs after the script has loaded. */
  after?(): void | Promise<void>;
  /** The calls on a fast network, on a slow one and without one. */
  calls: [fast: string[], slow: string[], failing: string[]];
}

const shapes: Record<string, Shape> = {
  'a page that queues its calls first': {
    before() {
      google.adsbygoogle = [] as unknown[];
      push({ preloadAdBreaks: 'auto', sound: 'off' });
      push({});
      push(interstitial());
    },
    calls: [shown, late, other],
  },
  'Google’s snippet, whose functions push': {
    before() {
      google.adsbygoogle = [] as unknown[];
      google.adBreak = google.adConfig = (options) => push(options);
    },
    after: () => google.adBreak?.(interstitial({ name: 'level 3' })),
    calls: [shown, late, other],
  },
  'a bridge that has kept the array': {
    before() {
      const kept = (google.adsbygoogle = [] as unknown[]);
      setTimeout(() => kept.push(rewarded()));
    },
    calls: [watched, watched, other],
  },
  'a bridge that has kept Google’s object': {
    before() {
      const kept = (google.adsbygoogle = { push: record('Google') });
      setTimeout(() => kept.push(rewarded({ beforeBreak: record('unused') })));
    },
    calls: [watched, watched, other],
  },
  'a Phaser scene’s manager with methods': {
    after() {
      class AdManager {
        type = 'next';
        name = 'Level End';
        paused = 0;
        beforeAd() {
          this.paused += 1;
          log.push('pause');
        }
        afterAd() {
          this.paused -= 1;
          log.push(`resume ${this.paused}`);
        }
        adBreakDone = record('done');
      }
      push(new AdManager());
    },
    calls: [['pause', 'resume 0', 'done viewed'], ['done noAdPreloaded'], ['done other']],
  },
  'a Construct plugin that waits until the API is ready': {
    after: () =>
      push({ preloadAdBreaks: 'on', onReady: () => google.adBreak?.(interstitial({ name: 7 })) }),
    calls: [shown, shown, other],
  },
  'a GameMaker extension with the old names': {
    after: () =>
      push({
        type: 'start',
        name: '',
        beforeBreak: record('stop'),
        afterBreak: record('go'),
        adBreakDone: record('done'),
      }),
    calls: [['stop', 'go', 'done viewed'], ['done noAdPreloaded'], ['done other']],
  },
  'a Unity plugin that offers once and shows from a later call': {
    after() {
      let show: Show | undefined;
      const poll = setInterval(() => {
        if (show === undefined) return;
        clearInterval(poll);
        show();
      }, 20);
      push(
        rewarded({
          beforeReward: (showAdFn: Show) => (show = showAdFn),
          adBreakDone(info: unknown) {
            clearInterval(poll);
            record('adBreakDone')(info);
          },
        }),
      );
    },
    calls: [watched.slice(1), watched.slice(1), other],
  },
  'a Godot bridge with a property for every option': {
    after: () =>
      push({ ...interstitial(), beforeReward: null, adViewed: undefined, adDismissed: null }),
    calls: [shown, late, other],
  },
  'consent that is known late': {
    async after() {
      uninstall();
      install('page');
      push(interstitial());
      await eventually(() => expect(log).toEqual(['adBreakDone notReady']));
      push({ onReady: () => push(interstitial()) });
      ads.setConsent({ status: 'granted' });
    },
    calls: [
      ['adBreakDone notReady', ...shown],
      ['adBreakDone notReady', ...late],
      ['adBreakDone notReady', ...other],
    ],
  },
  'a preroll, twice': {
    after() {
      push({ type: 'preroll', adBreakDone: record('first') });
      push({ type: 'preroll', adBreakDone: record('second') });
    },
    calls: [
      ['second invalid', 'first viewed'],
      ['second invalid', 'first viewed'],
      ['second invalid', 'first other'],
    ],
  },
  'a name with spaces for a break without a type': {
    after() {
      vi.spyOn(window, 'reportError').mockImplementation(() => undefined);
      push({ ...interstitial({ name: 'Treasure Chest' }), type: undefined });
    },
    calls: [['adBreakDone invalid'], ['adBreakDone invalid'], ['adBreakDone invalid']],
  },
  'a name with spaces': {
    after: () => push(rewarded({ name: 'Treasure Chest' })),
    calls: [watched, watched, other],
  },
  'a sound setting between the offer and the ad': {
    after: () =>
      push(
        rewarded({
          beforeReward(show: Show) {
            google.adConfig?.({ sound: 'off' });
            accept(show);
          },
        }),
      ),
    calls: [watched, watched, other],
  },
  'a rewarded break for a placement with interstitials': {
    after: () => push(rewarded({ name: 'wrong' })),
    calls: [['adBreakDone invalid'], ['adBreakDone invalid'], other],
  },
};

type Network = 'fast' | 'slow' | 'failing';
/** Longer than an ad break waits for an ad. */
const slowMs = 1_300;

function uninstall(): void {
  ads.destroy();
  for (const name of ['adsbygoogle', 'adBreak', 'adConfig']) Reflect.deleteProperty(window, name);
}

function install(consent?: 'page'): void {
  const service = createStubService();
  service.respond = ({ placement }: DecisionRequest) => ({
    ...picture(50),
    ...(placement === 'level-end' && { format: 'interstitial' as const }),
  });
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://play.test',
    userRef: 'player-1',
    ...(consent && { consent }),
    async fetch(input, init) {
      if (network === 'failing') throw new TypeError('Failed to fetch');
      const url = input instanceof Request ? input.url : String(input);
      if (network === 'slow' && url.endsWith('/decisions'))
        await new Promise((resolve) => setTimeout(resolve, slowMs));
      return service.fetch(input, init);
    },
  });
  installAdsbygoogle(
    createAdPlacement(ads, {
      placements: {
        interstitial: 'level-end',
        reward: 'revive',
        'treasure-chest': 'double-coins',
        wrong: 'level-end',
      },
    }),
  );
}

beforeEach(() => browserPage.viewport(640, 480));
afterEach(uninstall);

it.each(
  rowsForRun(
    Object.keys(shapes).flatMap((name) =>
      (['fast', 'slow', 'failing'] as const).map((speed) => [name, speed] as const),
    ),
    4,
  ),
)('%s: every break ends as with Google’s API (%s network)', async (name, speed) => {
  log = [];
  network = speed;
  const { after, before, calls } = shapes[name] as Shape;
  before?.();
  install();
  await after?.();
  const expected = calls[['fast', 'slow', 'failing'].indexOf(speed)] ?? [];
  await eventually(() => expect(log.length).toBeGreaterThanOrEqual(expected.length));
  expect(log).toEqual(expected);
  await eventually(() => expect(ads.diagnostics().showing).toBeNull());
});
