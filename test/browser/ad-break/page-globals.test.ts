import { afterEach, expect, it } from 'vitest';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { createAds } from '../../../src/index.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';
import { decide, html, image, restoredState, setStage, video } from './stage-set.ts';

const undo: (() => void)[] = [];
const restore = (): void => {
  for (const step of undo.splice(0).toReversed()) step();
};
afterEach(restore);

function replace(owner: object, name: string, value: unknown): void {
  const previous = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { configurable: true, writable: true, value });
  undo.push(() => {
    if (previous) Object.defineProperty(owner, name, previous);
    else Reflect.deleteProperty(owner, name);
  });
}

/** Stops time, as some games do to pause. */
function freezePage(): void {
  const stopped = () => 0;
  for (const kind of ['Timeout', 'Interval'])
    for (const verb of ['set', 'clear']) replace(window, verb + kind, stopped);
  for (const name of ['requestAnimationFrame', 'cancelAnimationFrame', 'queueMicrotask'])
    replace(window, name, stopped);
  replace(performance, 'now', stopped);
  replace(Date, 'now', stopped);
  replace(
    window,
    'Date',
    class {
      static now = stopped;
    },
  );
  replace(EventTarget.prototype, 'addEventListener', stopped);
  replace(window, 'fetch', () => new Promise(() => {}));
}

it.each<[string, DecisionCreative['media']]>([
  ['a video', video],
  ['an image', image],
  ['an HTML creative', html(`port.postMessage({ type: 'ready' })`)],
])('a game that stops the page’s clocks gets the reward for %s', async (_, media) => {
  const stage = setStage();
  const result = await stage.run(
    decide(media, { min_watch_ms: 2_800 }),
    { onOpen: freezePage, onClose: restore },
    { loadTimeoutMs: 50_000 },
  );
  expect(result.outcome).toBe('rewarded');
  expect(stage.count('impression')).toBe(1);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('works in a page that has added properties to every object', async () => {
  const names = [
    'engine',
    'fetch',
    'locale',
    'userRef',
    'consent',
    'debug',
    'strings',
    'muted',
  ].concat([
    'once',
    'passive',
    'capture',
    'signal',
    'customData',
    'segments',
    'loadTimeoutMs',
    'clone',
    'key',
  ]);
  // Names by which the SDK tells its own objects apart.
  names.push('creative', 'outcome', 'type', 'sound', 'context', 'format', 'decision');
  for (const name of names) replace(Object.prototype, name, () => 'from the page');
  const service = createStubService();
  const noFill = { status: 'no_fill', reason: 'no_candidates' } as const;
  const requests: object[] = [];
  service.respond = (request) => {
    requests.push(request);
    return request.placement === 'revive' ? picture(50) : noFill;
  };
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
  });
  undo.push(ads.destroy);
  expect(ads.canShow('revive')).toBe(true);
  expect(await ads.showRewarded('revive')).toMatchObject({ outcome: 'rewarded' });
  expect(await ads.showRewarded('empty')).toMatchObject({ outcome: 'no_fill' });
  expect(requests.map((request) => Object.keys(request).sort().join())).toEqual([
    'locale,placement,session,user_ref,viewport',
    'locale,placement,session,user_ref,viewport',
  ]);
});

it.each<[string, object]>([
  ['a signal of another kind', { aborted: false, addEventListener() {} }],
  ['an abort controller', new AbortController()],
])('%s is refused without throwing', async (_, signal) => {
  const ads = createAds({ publishableKey: createPublishableKey(), serviceUrl: 'https://ads.test' });
  undo.push(ads.destroy);
  expect(await ads.showRewarded('revive', { signal: signal as AbortSignal })).toMatchObject({
    outcome: 'error',
    reason: 'option_invalid',
  });
});
