import { afterEach, expect, it, vi } from 'vitest';
import { server } from 'vitest/browser';
import type { DecisionCreative } from '../../../protocol/wire.ts';
import { createAds } from '../../../src/index.ts';
import { openFrontDoor } from '../../../src/platform/front-door.ts';
import { native } from '../../../src/platform/native.ts';
import { eventually } from '../../support/eventually.ts';
import { createPublishableKey, createStubService, picture } from '../../support/stub-service.ts';
import { replaceProperty, replaceValue, stopClocks } from './hostile-page.ts';
import { decide, html, image, restoredState, setStage, video } from './stage-set.ts';

const undo: (() => void)[] = [];
const restore = (): void => {
  for (const step of undo.splice(0).toReversed()) step();
};
afterEach(restore);

const freezePage = (): unknown => undo.push(stopClocks());

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

/** What a page does to everything that loads and plays in it. */
const meddling: Record<string, () => void> = {
  'stops the events of media and frames': () => {
    for (const type of mediaEvents) {
      const stop = (event: Event) => event.stopImmediatePropagation();
      document.addEventListener(type, stop, true);
      undo.push(() => document.removeEventListener(type, stop, true));
    }
  },
  'pauses, repeats and slows down all media again and again': () => {
    const timer = setInterval(() => {
      for (const element of document.querySelectorAll<HTMLMediaElement>('audio, video')) {
        element.pause();
        element.loop = true;
        element.playbackRate = 0;
        element.muted = true;
      }
    }, 100);
    undo.push(() => clearInterval(timer));
  },
};
const mediaEvents = ['load', 'loadstart', 'loadedmetadata', 'loadeddata', 'canplay'].concat([
  'canplaythrough',
  'play',
  'playing',
  'pause',
  'waiting',
  'timeupdate',
  'volumechange',
  'ended',
]);

it.each<[string, string, DecisionCreative['media']]>([
  ['stops the events of media and frames', 'a video', video],
  ['stops the events of media and frames', 'an image', image],
  [
    'stops the events of media and frames',
    'an HTML creative',
    html(`port.postMessage({ type: 'ready' })`),
  ],
  ['pauses, repeats and slows down all media again and again', 'a video', video],
])('on a page that %s, %s is watched to its end and earns its reward', async (name, _, media) => {
  meddling[name]?.();
  const stage = setStage();
  const result = await stage.run(decide(media, { min_watch_ms: 1_000 }));
  expect(result).toMatchObject({ outcome: 'rewarded' });
  expect(stage.count('start')).toBe(1);
  // A video whose rate is set again and again stays at HAVE_CURRENT_DATA in WebKitGTK, as if it were waiting for data.
  if (server.browser !== 'webkit' || !name.includes('slows'))
    expect(stage.count('impression')).toBe(1);
  expect(stage.readPageState()).toEqual(restoredState);
});

it('a video whose beginning a busy page could not show begins again, and earns its reward', async () => {
  const work = (): void => {
    for (const end = performance.now() + 1_200; performance.now() < end;);
  };
  addEventListener('play', work, { capture: true, once: true });
  undo.push(() => removeEventListener('play', work, true));
  const stage = setStage();
  let startedAt: number | undefined;
  const onStart = (): unknown => (startedAt = document.querySelector('video')?.currentTime);
  const result = await stage.run(decide(video, { min_watch_ms: 2_800 }), { onStart });
  expect(result).toMatchObject({ outcome: 'rewarded' });
  expect(startedAt).toBeLessThan(0.5);
});

it('a video pauses on a hidden page whose game says that it is visible and keeps the event from others', async () => {
  openFrontDoor();
  const stop = (event: Event) => event.stopImmediatePropagation();
  addEventListener('visibilitychange', stop, true);
  undo.push(() => removeEventListener('visibilitychange', stop, true));
  undo.push(replaceProperty(document, 'hidden', { get: () => false }));
  const stage = setStage();
  const running = stage.run(decide(video, { min_watch_ms: 2_800 }));
  await eventually(() => expect(stage.count('start')).toBe(1));
  const [element] = document.getElementsByTagName('video');
  for (const hidden of [true, false]) {
    vi.spyOn(native, 'isHidden').mockReturnValue(hidden);
    document.dispatchEvent(new Event('visibilitychange'));
    await eventually(() => expect(element?.paused).toBe(hidden));
  }
  expect(await running).toMatchObject({ outcome: 'rewarded' });
});

it('delivers the reward on a page whose library has an `Array.from` that knows only lists', async () => {
  const original = Array.from.bind(Array) as (...call: unknown[]) => unknown[];
  // The test's own tools need the real one.
  const isCalledBySdk = (): boolean => /\/src\//.test(new Error('Where?').stack ?? '');
  const from = (value: object, ...rest: unknown[]): unknown[] =>
    'length' in value || !isCalledBySdk() ? original(value, ...rest) : [value];
  undo.push(replaceValue(Array, 'from', from));
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'ann',
    segments: ['a', 'a', 'b'],
    fetch: createStubService().fetch,
  });
  undo.push(() => ads.destroy());
  const received: unknown[] = [];
  ads.on('reward', (reward) => void received.push(reward));
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
  await eventually(() => expect(received).toHaveLength(1));
});

it('delivers the reward on a page whose polyfill replaces `AbortController` after the SDK was loaded', async () => {
  class OldController {
    signal = { aborted: false, addEventListener() {}, removeEventListener() {} };
    abort(): void {
      this.signal.aborted = true;
    }
  }
  undo.push(replaceValue(globalThis, 'AbortController', OldController));
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    fetch: createStubService().fetch,
  });
  undo.push(() => ads.destroy());
  const received: unknown[] = [];
  ads.on('reward', (reward) => void received.push(reward));
  expect((await ads.showRewarded('revive')).outcome).toBe('rewarded');
  await eventually(() => expect(received).toHaveLength(1));
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
  for (const name of names) undo.push(replaceValue(Object.prototype, name, () => 'from the page'));
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
