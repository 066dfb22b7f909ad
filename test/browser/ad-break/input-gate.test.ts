import { afterEach, expect, it, vi } from 'vitest';
import { createInputGate, type InputGate } from '../../../src/ad-break/input-gate.ts';
import { native } from '../../../src/platform/native.ts';
import { createManualClock } from '../../support/manual-clock.ts';

let gate: InputGate;
afterEach(() => {
  gate.destroy();
  vi.restoreAllMocks();
});

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

// A game often loads its next level behind the ad, and a player whose screen doesn't change presses again and again.
it.each<[description: string, busyMs: number, frames: number, waitedMs: number, counts: boolean]>([
  ['a press while the page is too busy to show the ad', 2_500, 0, 1_200, false],
  ['the last of those presses', 2_500, 0, 0, false],
  ['a press from before a task that is longer than any event waits', 6_000, 0, 5_500, false],
  ['a press while the page shows nothing but the frame before the ad', 2_500, 1, 1_200, false],
  ['a press that a busy page handles after it has shown the ad', 2_500, 2, 1_200, false],
  ['a press in an ad that was shown before the page was busy', 0, 2, 0, true],
])('%s', async (_description, busyMs, frames, waitedMs, counts) => {
  const requested: FrameRequestCallback[] = [];
  vi.spyOn(native, 'requestAnimationFrame').mockImplementation((callback) =>
    requested.push(callback),
  );
  const clock = createManualClock();
  gate = createInputGate(clock);
  clock.freeze(busyMs);
  for (let frame = 0; frame < frames; frame += 1) requested.shift()?.(0);
  if (busyMs === 0) clock.freeze(2_500);
  expect(gate.admit(eventBefore(waitedMs))).toBe(counts);
});

it('counts presses after a second if the page shows no frames but isn’t busy', async () => {
  vi.spyOn(native, 'requestAnimationFrame').mockReturnValue(0);
  const clock = createManualClock();
  gate = createInputGate(clock);
  await clock.advance(990);
  expect(gate.admit(eventBefore(0))).toBe(false);
  await clock.advance(400);
  expect(gate.admit(eventBefore(0))).toBe(true);
});
