import { describe, expect, it } from 'vitest';
import type { Decision, DecisionCreative } from '../../../protocol/wire.ts';
import { createDecisions } from '../../../src/decision/decisions.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import type { ServiceResult, Guard } from '../../../src/transport/service-client.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { decisionPorts } from '../../support/ports.ts';
import { passTime } from './pass-time.ts';
import { decide, restoredState, html, image, setStage, video } from './stage-set.ts';

// In these tests, the device sleeps after `preload()` and before the ad is shown. `fault-table.test.ts` covers sleep
// during an ad break.

const minuteMs = 60_000;
const media: Record<string, DecisionCreative['media']> = {
  video,
  image,
  html: html("port.postMessage({ type: 'ready' });"),
};
const never = new AbortController().signal;

/** Opens a game that preloads an ad. The service's decisions are valid for ten minutes. */
function open(kind: string) {
  const clock = createManualClock();
  const loadedIds: string[] = [];
  let requests = 0;
  const decisions = createDecisions({
    ...decisionPorts(clock),
    loadTimeoutMs: 100_000,
    client: {
      async call<T>(_path: string, _guard: Guard<T>) {
        const body: Decision = decide(media[kind] ?? image, { id: `dec_${(requests += 1)}` });
        return { kind: 'ok', body } as ServiceResult<T>;
      },
    },
    loadCreative(decision, signal) {
      loadedIds.push(decision.id);
      return loadCreative(decision, { clock, signal });
    },
  });
  const stage = setStage();
  const time = passTime(clock, { fastVideo: true });
  const show = async () => {
    const result = await stage.run(
      decide(image),
      { onStart: () => time.start() },
      { clock, take: decisions.take, loadTimeoutMs: 100_000 },
    );
    time.stop();
    return result;
  };
  return { clock, decisions, loadedIds, show, stage };
}

describe.each(Object.keys(media))('A preloaded ad (%s)', (kind) => {
  it.each([
    ['is shown after the device has slept briefly', 1_000, 'dec_1', ['dec_1']],
    [
      'gets a new decision but keeps its media after five minutes of sleep',
      5 * minuteMs,
      'dec_2',
      ['dec_1'],
    ],
    ['is replaced after nine hours of sleep', 540 * minuteMs, 'dec_2', ['dec_1', 'dec_2']],
  ])('%s', async (_, sleptMs, shown, loads) => {
    const { clock, decisions, loadedIds, show, stage } = open(kind);
    expect(await decisions.preload('revive', never)).toMatchObject({ available: true });
    clock.sleep(sleptMs);
    expect(decisions.availability('revive')).toMatchObject({ available: true });
    expect(await show()).toMatchObject({ outcome: 'rewarded', decisionId: shown });
    expect(loadedIds).toEqual(loads);
    expect(stage.readPageState()).toEqual(restoredState);
    decisions.destroy();
  });
});
