import { expect, it } from 'vitest';
import { startExposure } from '../../../src/creative/exposure.ts';
import type { RendererEvent } from '../../../src/creative/renderer.ts';
import { eventually } from '../../support/eventually.ts';
import { createManualClock } from '../../support/manual-clock.ts';

it.each(['sleep', 'freeze'] as const)(
  'an hour of %s counts as at most one tick of watch time',
  async (pass) => {
    const clock = createManualClock();
    const events: RendererEvent[] = [];
    const exposure = startExposure(clock, 5_000, (event) => events.push(event));
    await eventually(() => expect(events).toEqual([{ type: 'painted' }]));
    await clock.advance(1_000);
    clock[pass](3_600_000);
    await clock.advance(pass === 'sleep' ? 250 : 0);
    expect(events.at(-1)).toEqual({ type: 'progress', watchedMs: 1_250, durationMs: 5_000 });
    await clock.advance(3_750);
    expect(events.at(-1)).toEqual({ type: 'ended' });
    exposure.destroy();
    expect(clock.timers()).toBe(0);
  },
);
