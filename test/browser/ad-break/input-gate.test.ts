import { afterEach, expect, it } from 'vitest';
import { createInputGate, type InputGate } from '../../../src/ad-break/input-gate.ts';
import { createManualClock } from '../../support/manual-clock.ts';

let gate: InputGate;
afterEach(() => gate.destroy());

/** Returns an event that happened this long ago. */
const eventBefore = (ms: number): Event =>
  Object.defineProperty(new Event('pointerdown'), 'timeStamp', { value: performance.now() - ms });

it.each<[description: string, restedMs: number, waitedMs: number, counts: boolean]>([
  ['an event before the rest has ended', 290, 0, false],
  ['an event after it', 400, 0, true],
  ['an event that waited, but happened after the rest', 900, 400, true],
  ['an event that happened during the rest, and waited until after it', 900, 700, false],
  ['an event from the future', 310, -5_000, true],
  ['an event without a time', 310, NaN, true],
  ['an event whose time is from a clock that is behind', 310, 3_600_000, true],
  ['an event from such a clock during the rest', 290, 3_600_000, false],
])('%s', async (_description, restedMs, waitedMs, counts) => {
  const clock = createManualClock();
  gate = createInputGate(clock);
  // Otherwise, the page's own next frame could begin another rest meanwhile.
  gate.destroy();
  gate.rest();
  await clock.advance(restedMs);
  expect(gate.admit(eventBefore(waitedMs))).toBe(counts);
});
