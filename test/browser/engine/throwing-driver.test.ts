import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAds } from '../../../src/create-ads.ts';
import type { Ads } from '../../../src/ads.ts';
import { createEngineDriver, type EngineParts } from '../../../src/engine/create-engine-driver.ts';
import type { EngineDriver } from '../../../src/engine/engine-driver.ts';
import { noEngine } from '../../../src/engine/no-engine.ts';
import type { EarnedReward } from '../../../src/outcome.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService } from '../../support/stub-service.ts';

// A driver is code of the game's. Whatever fails in it, each call ends, a reward that was earned arrives, and the driver's own
// error is reported.

const fail = (): never => {
  throw new Error('the driver’s own text');
};

let errors: string[];
let ads: Ads | undefined;
const onError = (event: ErrorEvent): void => {
  errors.push(event.message);
  event.preventDefault();
  event.stopImmediatePropagation();
};

beforeEach(() => {
  errors = [];
  document.body.replaceChildren();
  window.addEventListener('error', onError, true);
});
afterEach(() => {
  ads?.destroy();
  window.removeEventListener('error', onError, true);
});

async function watchWith(engine: EngineDriver) {
  ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: createStubService().fetch,
    engine,
  });
  const rewards: EarnedReward[] = [];
  ads.on('reward', (reward) => void rewards.push(reward));
  return { result: await ads.showRewarded('revive'), rewards };
}

it.each<[name: string, parts: Partial<EngineDriver>]>([
  ['hold()', { hold: fail }],
  ['focusTarget()', { focusTarget: fail }],
])('an ad does not open if %s throws', async (_, parts) => {
  const { result } = await watchWith({ ...noEngine(), ...parts });
  expect(result).toMatchObject({ outcome: 'error', reason: 'open_failed' });
  expect(result.detail).toContain('the driver’s own text');
  expect(document.querySelector('body > *')).toBeNull();
});

it.each<[name: string, parts: Partial<EngineDriver>]>([
  ['what hold() returned', { hold: () => fail }],
  ['onFrame()', { onFrame: fail }],
  ['what onFrame() returned', { onFrame: (callback) => (requestAnimationFrame(callback), fail) }],
])('a reward arrives if %s throws', async (_, parts) => {
  const { result, rewards } = await watchWith({ ...noEngine(), ...parts });
  expect(result.outcome).toBe('rewarded');
  await eventually(() => expect(rewards).toHaveLength(1));
  await eventually(() => expect(errors.join('\n')).toContain('the driver’s own text'));
  expect(document.querySelector('body > *')).toBeNull();
});

const frames = (callback: () => void): (() => void) => {
  const timer = setInterval(callback, 10);
  return () => clearInterval(timer);
};

it.each<[name: string, parts: Partial<EngineParts>]>([
  ['pause()', { pause: fail }],
  ['what pause() returned', { pause: () => fail }],
  ['one of several pauses', { pause: [fail, () => fail, () => () => {}] }],
  ['audio()', { audio: fail }],
  ['onFrame()', { onFrame: fail }],
  ['what onFrame() returned', { onFrame: (callback) => (requestAnimationFrame(callback), fail) }],
])('a reward arrives if %s of createEngineDriver() throws', async (_, parts) => {
  const held: boolean[] = [];
  const engine = createEngineDriver({ canvas: () => null, onFrame: frames, ...parts });
  const watched = watchWith(engine);
  ads?.on('start', () => void held.push(engine.isHeld));
  const { result, rewards } = await watched;
  expect(result.outcome).toBe('rewarded');
  expect([...held, engine.isHeld]).toEqual([true, false]);
  await eventually(() => expect(rewards).toHaveLength(1));
  await eventually(() => expect(errors.join('\n')).toContain('the driver’s own text'));
});

it('an ad does not open if canvas() of createEngineDriver() throws, and the game isn’t held', async () => {
  const engine = createEngineDriver({ canvas: fail, onFrame: frames });
  const { result } = await watchWith(engine);
  expect(result).toMatchObject({ outcome: 'error', reason: 'open_failed' });
  expect(result.detail).toContain('the driver’s own text');
  expect(engine.isHeld).toBe(false);
});
