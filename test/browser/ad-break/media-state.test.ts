import { afterEach, describe, expect, it, vi } from 'vitest';
import { server } from 'vitest/browser';
import type { VideoMedia } from '../../../protocol/wire.ts';
import { loadCreative } from '../../../src/creative/load-creative.ts';
import { eventually } from '../../support/eventually.ts';
import { setHidden } from '../../support/set-hidden.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { passTime } from './pass-time.ts';
import {
  decide,
  overlay,
  pauseBySystem,
  pressUntil,
  restoredState,
  setStage,
  video,
} from './stage-set.ts';

type ManualClock = ReturnType<typeof createManualClock>;

const tapPrompt = () => overlay().findVisible('button.play');
const findVideo = async (): Promise<HTMLVideoElement> => {
  await eventually(() => expect(document.querySelector('video')?.paused).toBe(false));
  const element = document.querySelector('video');
  if (!element) throw new Error('There is no video.');
  return element;
};

describe('an ad whose video is paused by the system', () => {
  /** Starts an ad, and pauses its video as a media key, a phone call or another audio session does. */
  async function interrupt() {
    const stage = setStage();
    const clock = createManualClock();
    const time = passTime(clock, { fastVideo: true });
    const running = stage.run(decide(video, { min_watch_ms: 3000 }), {}, { clock });
    const element = await findVideo();
    await eventually(() => expect(stage.count('start')).toBe(1));
    pauseBySystem(element);
    await eventually(() => expect(tapPrompt()).toBeDefined());
    return { stage, clock, time, running, element };
  }

  it.each<[string, (element: HTMLVideoElement, clock: ManualClock) => unknown]>([
    ['the system resumes it', (element) => element.play()],
    [
      'the system resumes it after a second interruption',
      async (element) => {
        await element.play();
        await eventually(() => expect(tapPrompt()).toBeUndefined());
        pauseBySystem(element);
        await eventually(() => expect(tapPrompt()).toBeDefined());
        await element.play();
      },
    ],
    [
      'the player taps the prompt',
      async (_element, clock) => {
        // Input is ignored at first.
        await clock.advance(1_000);
        tapPrompt()?.click();
      },
    ],
    [
      'the player leaves the page and returns',
      async (element) => {
        setHidden(true);
        await eventually(() => expect(tapPrompt()).toBeUndefined());
        pauseBySystem(element);
        setHidden(false);
      },
    ],
  ])('goes on without a prompt when %s', async (_way, act) => {
    const { stage, clock, time, running, element } = await interrupt();
    await act(element, clock);
    await eventually(() => expect([element.paused, tapPrompt()]).toEqual([false, undefined]));
    // The prompt would have ended the ad after 20 s.
    await clock.advance(7_000);
    time.start();
    expect(await running).toMatchObject({ outcome: 'rewarded' });
    expect(stage.count('complete')).toBe(1);
    expect(stage.readPageState()).toEqual(restoredState);
  });

  it('ends after 20 s if nobody resumes it', async () => {
    const { clock, running } = await interrupt();
    await clock.advance(20_000);
    expect(await running).toMatchObject({ outcome: 'stalled' });
  });
});

it('plays at its own speed, whatever an extension sets, and rewards the player', async () => {
  const stage = setStage();
  const running = stage.run(decide(video, { min_watch_ms: 2_800 }));
  const element = await findVideo();
  element.defaultPlaybackRate = 16;
  for (const rate of [2, 16]) {
    element.playbackRate = rate;
    await eventually(() => expect(element.playbackRate).toBe(1));
  }
  expect(await running).toMatchObject({ outcome: 'rewarded' });
});

// WebKit says that it is loading.
it.skipIf(server.browser === 'webkit')(
  'is shown and rewarded if nothing loads until it plays',
  async () => {
    // So do browsers for players who save data.
    const preload = vi.spyOn(HTMLMediaElement.prototype, 'preload', 'set');
    preload.mockImplementation(function (this: HTMLMediaElement) {
      this.setAttribute('preload', 'none');
    });
    try {
      const stage = setStage();
      const clock = createManualClock();
      const time = passTime(clock, { fastVideo: true });
      const running = stage.run(decide(video, { min_watch_ms: 2_800 }), {}, { clock });
      await eventually(() => {
        const [element] = preload.mock.contexts as HTMLVideoElement[];
        expect(element?.networkState).toBe(HTMLMediaElement.NETWORK_IDLE);
      });
      await clock.advance(2_000);
      await findVideo();
      time.start();
      expect(await running).toMatchObject({ outcome: 'rewarded' });
    } finally {
      preload.mockRestore();
    }
  },
);

it('shows whether the sound is on, whoever changed it', async () => {
  const stage = setStage();
  const abort = new AbortController();
  const running = stage.run(decide(video, { min_watch_ms: 3000 }), { signal: abort.signal });
  const element = await findVideo();
  const label = () => overlay().findVisible('button.mute')?.ariaLabel;
  for (const [change, expected] of [
    [() => (element.muted = true), 'Turn sound on'],
    [() => (element.muted = false), 'Turn sound off'],
    [() => (element.volume = 0), 'Turn sound on'],
    [() => pressUntil('button.mute', () => label() === 'Turn sound off'), 'Turn sound off'],
  ] as const) {
    await change();
    await eventually(() => expect(label()).toBe(expected));
  }
  expect(element.volume).toBe(1);
  abort.abort();
  await running;
});

it('counts the time until the player leaves the page, however often that is', async () => {
  const stage = setStage();
  const clock = createManualClock();
  const time = passTime(clock);
  const running = stage.run(decide(video, { min_watch_ms: 2990 }), {}, { clock });
  const element = await findVideo();
  await eventually(() => expect(stage.count('start')).toBe(1));
  time.start();
  for (const position of [0.4, 0.8, 1.2, 1.6, 2]) {
    await eventually(() => expect(element.currentTime).toBeGreaterThan(position));
    const paused = new Promise((resolve) =>
      element.addEventListener('pause', resolve, { once: true }),
    );
    setHidden(true);
    await paused;
    setHidden(false);
  }
  expect(await running).toMatchObject({ outcome: 'rewarded' });
});

describe('a file that is not as long as its creative declares', () => {
  afterEach(() => document.body.replaceChildren());
  const declare = (durationMs: number, files = (video as VideoMedia).files): VideoMedia => ({
    format: 'video',
    files,
    duration_ms: durationMs,
  });

  it.each([12_000, 3_300, 2_000])(
    'is not shown if %i ms are declared for 3 s',
    async (declaredMs) => {
      const stage = setStage();
      const result = await stage.run(decide(declare(declaredMs), { min_watch_ms: declaredMs }));
      expect(result).toMatchObject({ outcome: 'error', reason: 'load_failed' });
      expect(result.detail).toContain('media_duration');
      expect(stage.log).toEqual([]);
    },
  );

  it.each([2_900, 3_100])('is shown if the difference is small: %i ms', async (declaredMs) => {
    const stage = setStage();
    const clock = createManualClock();
    const time = passTime(clock, { fastVideo: true });
    const running = stage.run(decide(declare(declaredMs)), {}, { clock });
    await findVideo();
    time.start();
    expect(await running).toMatchObject({ outcome: 'rewarded' });
  });

  /** Returns the test's WebM file, changed. */
  async function change(edit: (bytes: Uint8Array) => Uint8Array): Promise<VideoMedia['files']> {
    const [, webm] = (video as VideoMedia).files;
    if (!webm) throw new Error('There is no WebM file.');
    const bytes = new Uint8Array(await (await fetch(webm.url)).arrayBuffer());
    const blob = new Blob([edit(bytes).slice()], { type: webm.mime });
    return [{ ...webm, url: URL.createObjectURL(blob) }];
  }
  /** Replaces the header's duration with padding, as in a live recording. */
  function removeDuration(bytes: Uint8Array): Uint8Array {
    const at = bytes.findIndex((_byte, index) =>
      [0x44, 0x89, 0x88].every((expected, offset) => bytes[index + offset] === expected),
    );
    bytes.set([0xec, 0x40, 0x08], at);
    return bytes;
  }
  const cutInHalf = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length / 2);

  it.each([
    ['rewarded', 'is cut short', 3_000, cutInHalf],
    ['interstitial', 'is cut short', 3_000, cutInHalf],
    ['rewarded', 'has no length and is shorter', 6_000, removeDuration],
    ['interstitial', 'has no length and is shorter', 6_000, removeDuration],
    ['interstitial', 'has no length and is longer', 1_000, removeDuration],
  ] as const)('ends %s with an error if its file %s', async (kind, way, declaredMs, edit) => {
    const stage = setStage();
    const media = declare(declaredMs, await change(edit));
    const more = { format: kind, min_watch_ms: declaredMs, close_after_ms: 60_000 };
    const result = await stage.run(decide(media, more), { kind });
    expect(result.outcome).toBe('error');
    // Firefox and WebKit find out the length of such a file while it loads.
    const isFoundAtLoad = server.browser !== 'chromium' && /no length/.test(way);
    const reason = /longer/.test(way) ? 'media_duration' : 'ended_early';
    expect(result.reason).toBe(isFoundAtLoad ? 'load_failed' : reason);
    expect(stage.count('complete')).toBe(0);
    expect(stage.readPageState()).toEqual(restoredState);
  });
});

// In WebKitGTK, the user's settings show no captions.
const showsCaptions = server.browser !== 'webkit';
it.runIf(showsCaptions)('a video shows the captions that were added after it loaded', async () => {
  const caption = (language: string) => ({
    url: `data:text/vtt,WEBVTT%0A%0A00:00.000 --> 00:09.000%0A${language}`,
    language,
    label: language,
  });
  const media: VideoMedia = { ...(video as VideoMedia), captions: [caption('en'), caption('de')] };
  const abort = new AbortController();
  const options = { clock: createManualClock(), signal: abort.signal, locale: 'de-AT' };
  const creative = await loadCreative(decide(media), options);
  const { textTracks } = creative.element as HTMLVideoElement;
  document.body.append(creative.element);
  await eventually(() =>
    expect(Array.from(textTracks, ({ cues, mode }) => [mode, cues?.length ?? 0])).toEqual([
      ['disabled', 0],
      ['showing', 1],
    ]),
  );
  creative.destroy();
});
