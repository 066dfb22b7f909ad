import type { AdEvent } from '@trueward/protocol/wire';
import { describe, expect, test } from 'vitest';
import { listNewlyDueTrackers, type Playback } from '../../src/demand/trackers.ts';

type ChosenAd = Parameters<typeof listNewlyDueTrackers>[0];

const createChosenAd = (
  overrides: Partial<ChosenAd['trackers']>,
  impressionOn: ChosenAd['impressionOn'],
): ChosenAd => ({
  sourceId: 'src_1',
  priceMicros: 0,
  currency: 'USD',
  trackers: { byEvent: {}, progress: [], macros: {}, ...overrides },
  impressionOn,
  headerProfile: 'iab',
  trackUntilMs: 0,
  limitAdTracking: true,
});
const createPlayback = (types: AdEvent['type'][], verified = true, watchedMs = 0): Playback => ({
  verified,
  types: new Set(types),
  watchedMs,
});
const names = (trackers: ReturnType<typeof listNewlyDueTrackers>) =>
  trackers.map(({ name }) => name);
const initialPlayback = createPlayback([], false);

describe('listNewlyDueTrackers', () => {
  const url = 'https://t.test/';
  const events = {
    byEvent: {
      impression: [url, url],
      verificationNotExecuted: [url],
      viewable: [url],
      start: [url],
      loaded: [url],
      complete: [url],
      skip: [url],
      closeLinear: [url],
      mute: [url],
    },
    burl: url,
  };
  const verifiedAd = createChosenAd(events, 'verified');
  const renderedAd = createChosenAd(events, 'rendered');

  test.each([
    [
      'returns nothing before the impression is verified',
      verifiedAd,
      initialPlayback,
      createPlayback(['start', 'complete'], false),
      '',
    ],
    [
      'returns the trackers for all earlier events when the impression is verified',
      verifiedAd,
      createPlayback(['start'], false),
      createPlayback(['start', 'impression']),
      'impression/0 impression/1 verificationNotExecuted/0 burl/0 viewable/0 loaded/0 start/0',
    ],
    [
      'returns only the trackers for new events after the impression was verified',
      verifiedAd,
      createPlayback(['start']),
      createPlayback(['start', 'complete']),
      'complete/0',
    ],
    [
      'returns nothing if there are no new events',
      verifiedAd,
      createPlayback(['start', 'complete']),
      createPlayback(['start', 'complete']),
      '',
    ],
    [
      'returns a rendered ad’s impression trackers before verification',
      renderedAd,
      initialPlayback,
      createPlayback(['start'], false),
      'impression/0 impression/1 verificationNotExecuted/0 loaded/0 start/0',
    ],
    [
      'returns a rendered ad’s billing notice after verification',
      renderedAd,
      createPlayback(['start'], false),
      createPlayback(['start']),
      'burl/0 viewable/0',
    ],
    [
      'returns nothing if the ad is closed after its completion',
      verifiedAd,
      createPlayback(['complete']),
      createPlayback(['complete', 'close']),
      '',
    ],
    [
      'returns no close tracker if the ad is closed after a skip',
      verifiedAd,
      createPlayback(['start']),
      createPlayback(['start', 'skip', 'close']),
      'skip/0',
    ],
    [
      'returns the close tracker if the ad is closed before its completion',
      verifiedAd,
      createPlayback(['start']),
      createPlayback(['start', 'close']),
      'closeLinear/0',
    ],
  ])('%s', (_what, ad, previousPlayback, currentPlayback, expected) => {
    expect(names(listNewlyDueTrackers(ad, previousPlayback, currentPlayback)).join(' ')).toBe(
      expected,
    );
  });

  test.each([
    [createPlayback(['start'], true, 4_999), []],
    [createPlayback(['start'], true, 5_000), ['progress/0']],
    [createPlayback(['first_quartile']), ['progress/1']],
    [createPlayback(['midpoint'], true, 5_000), ['progress/0', 'progress/1']],
    [createPlayback(['complete']), ['progress/0', 'progress/1', 'progress/2']],
    [createPlayback(['complete'], false), []],
  ])(
    'returns progress trackers based on the events and the watch time: %j',
    (playback, expected) => {
      const progress = [{ ms: 5_000 }, { percent: 25 }, { percent: 80 }];
      const ad = createChosenAd(
        { progress: progress.map((offset) => ({ offset, url })) },
        'verified',
      );
      expect(names(listNewlyDueTrackers(ad, initialPlayback, playback))).toEqual(expected);
    },
  );

  test('marks only billing notices for at-least-once delivery', () => {
    const startTrackers = listNewlyDueTrackers(
      verifiedAd,
      initialPlayback,
      createPlayback(['start']),
    );
    expect(startTrackers.filter(({ atLeastOnce }) => atLeastOnce).map(({ name }) => name)).toEqual([
      'burl/0',
    ]);
  });
});
