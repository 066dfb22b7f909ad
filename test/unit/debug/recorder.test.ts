import { expect, it } from 'vitest';
import { createRecorder } from '../../../src/debug/recorder.ts';
import { createManualClock } from '../../support/manual-clock.ts';

it('keeps a bounded number of steps in a game that shows only banners', () => {
  const { note, onResult, timeline } = createRecorder(createManualClock());
  for (let banner = 0; banner < 1_000; banner += 1) {
    note('impression');
    onResult('home', { outcome: 'completed' });
  }
  expect(timeline).toHaveLength(100);
  note('begin');
  expect(timeline.map(({ step }) => step)).toEqual(['begin']);
});
