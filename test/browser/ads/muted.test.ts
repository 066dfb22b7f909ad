import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Ads, type AdsOptions, createAds, type ShowOptions } from '../../../src/index.ts';
import { native } from '../../../src/platform/native.ts';
import { eventually } from '../../support/eventually.ts';
import {
  createPublishableKey,
  type StubService,
  createStubService,
} from '../../support/stub-service.ts';
import { decide, html, overlay, pressUntil, video } from '../ad-break/stage-set.ts';
import { click } from '../engine/real-input.ts';

let service: StubService;
let instances: Ads[];
/** Whether each attempt to play was muted, in order. */
let mutedPlays: boolean[];
const { play } = native;

beforeEach(() => {
  document.body.replaceChildren();
  service = createStubService();
  service.respond = () => ({ creative: decide(video).creative, min_watch_ms: 2_000 });
  instances = [];
  mutedPlays = [];
  vi.spyOn(native, 'play').mockImplementation(function (this: HTMLMediaElement) {
    mutedPlays.push(this.muted);
    return play.call(this);
  });
});
afterEach(() => instances.forEach((ads) => ads.destroy()));

function show(options: Partial<AdsOptions>, call: ShowOptions = {}): Ads {
  const ads = createAds({
    publishableKey: createPublishableKey(),
    serviceUrl: 'https://ads.test',
    userRef: 'player-1',
    fetch: service.fetch,
    ...options,
  });
  instances.push(ads);
  void ads.showRewarded('revive', call);
  return ads;
}
it.each<[string, Partial<AdsOptions>, ShowOptions, boolean]>([
  ['with sound by default', {}, {}, false],
  ['muted by the createAds() option', { muted: true }, {}, true],
  ['muted by the per-call option', {}, { muted: true }, true],
  [
    'with sound if the per-call option overrides createAds()',
    { muted: true },
    { muted: false },
    false,
  ],
])('starts %s', async (_description, options, call, muted) => {
  show(options, call);
  await eventually(() => expect(mutedPlays[0]).toBe(muted));
});

it('lets the player unmute an ad that started muted', async () => {
  // Only after a real press may a page play sound. A real press of the button could come after the end of the short clip.
  await click(document.documentElement);
  show({ muted: true });
  await pressUntil(
    'button.mute',
    () => overlay().findVisible('button.mute')?.ariaLabel === 'Turn sound off',
  );
  const videoElement = document.querySelector('video');
  expect(videoElement).toMatchObject({ muted: false, paused: false });
  expect(mutedPlays).toEqual([true]);
});

it('requires a tap if the browser blocks even muted playback', async () => {
  vi.mocked(native.play).mockImplementation(function (this: HTMLMediaElement) {
    mutedPlays.push(this.muted);
    return Promise.reject(new DOMException('no gesture', 'NotAllowedError'));
  });
  show({ muted: true });
  await eventually(() => expect(overlay().root?.textContent).toContain('Tap to play'));
  expect(mutedPlays).toEqual([true]);
});

it('mutes an HTML creative before it is shown', async () => {
  const creative = html(`
    port.onmessage = ({ data }) => {
      document.body.append(JSON.stringify(data));
      if (data.type === 'mute' && data.muted) port.postMessage({ type: 'close' });
    };
    port.postMessage({ type: 'ready' });
  `);
  service.respond = () => ({ creative: decide(creative).creative, close_after_ms: 0 });
  show({ muted: true });
  // The frame is sandboxed, so the test cannot look inside. When the creative receives the message, it asks to be
  // closed.
  await eventually(() => expect(overlay().root?.textContent).toContain('lose the reward'));
});
