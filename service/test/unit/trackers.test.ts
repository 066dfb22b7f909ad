import type { AdEvent } from '@trueward/protocol/wire';
import { describe, expect, test } from 'vitest';
import { dueTrackers, type Playback } from '../../src/demand/trackers.ts';

type Chosen = Parameters<typeof dueTrackers>[0];

const chosen = (
  more: Partial<Chosen['trackers']>,
  impressionOn: Chosen['impressionOn'],
): Chosen => ({
  sourceId: 'src_1',
  priceMicros: 0,
  currency: 'USD',
  trackers: { byEvent: {}, progress: [], macros: {}, ...more },
  impressionOn,
  headerProfile: 'iab',
  trackUntilMs: 0,
  limitAdTracking: true,
});
const at = (types: AdEvent['type'][], verified = true, watchedMs = 0): Playback => ({
  verified,
  types: new Set(types),
  watchedMs,
});
const names = (due: ReturnType<typeof dueTrackers>) => due.map(({ name }) => name);
const nothing = at([], false);

describe('the due trackers are', () => {
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
  const verified = chosen(events, 'verified');
  const rendered = chosen(events, 'rendered');

  test.each([
    ['none before the verification', verified, nothing, at(['start', 'complete'], false), ''],
    [
      'all for events so far, with the verification',
      verified,
      at(['start'], false),
      at(['start', 'impression']),
      'impression/0 impression/1 verificationNotExecuted/0 burl/0 viewable/0 loaded/0 start/0',
    ],
    [
      'only those for new events, after the verification',
      verified,
      at(['start']),
      at(['start', 'complete']),
      'complete/0',
    ],
    ['none without new events', verified, at(['start', 'complete']), at(['start', 'complete']), ''],
    [
      'the impression of a rendered ad, but not its billing notice',
      rendered,
      nothing,
      at(['start'], false),
      'impression/0 impression/1 verificationNotExecuted/0 loaded/0 start/0',
    ],
    [
      'the billing notice after the verification',
      rendered,
      at(['start'], false),
      at(['start']),
      'burl/0 viewable/0',
    ],
    [
      'none for a close after completion',
      verified,
      at(['complete']),
      at(['complete', 'close']),
      '',
    ],
    [
      'none for a close after a skip',
      verified,
      at(['start']),
      at(['start', 'skip', 'close']),
      'skip/0',
    ],
    [
      'the close tracker for a close before completion',
      verified,
      at(['start']),
      at(['start', 'close']),
      'closeLinear/0',
    ],
  ])('%s', (_what, of, before, after, expected) => {
    expect(names(dueTrackers(of, before, after)).join(' ')).toBe(expected);
  });

  test.each([
    [at(['start'], true, 4_999), []],
    [at(['start'], true, 5_000), ['progress/0']],
    [at(['first_quartile']), ['progress/1']],
    [at(['midpoint'], true, 5_000), ['progress/0', 'progress/1']],
    [at(['complete']), ['progress/0', 'progress/1', 'progress/2']],
    [at(['complete'], false), []],
  ])('those for the progress that events and the watch time prove: %j', (playback, expected) => {
    const progress = [{ ms: 5_000 }, { percent: 25 }, { percent: 80 }];
    const of = chosen({ progress: progress.map((offset) => ({ offset, url })) }, 'verified');
    expect(names(dueTrackers(of, nothing, playback))).toEqual(expected);
  });

  test('delivered at least once only if they are billing notices', () => {
    const due = dueTrackers(verified, nothing, at(['start']));
    expect(due.filter(({ atLeastOnce }) => atLeastOnce).map(({ name }) => name)).toEqual([
      'burl/0',
    ]);
  });
});
