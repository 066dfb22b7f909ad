import type { VideoMedia } from '../../protocol/wire.ts';
import type { Reason } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { onVisibilityChange } from '../platform/front-door.ts';
import { listen as listenTo, native } from '../platform/native.ts';
import { markOwnMedia } from '../platform/own-media.ts';
import type { LoadedCreative, Playback, Renderer, RendererEvent } from './renderer.ts';
import { findLoadFailure } from './load-failure.ts';
import { afterPaint, chooseFile, screenWidth } from './screen.ts';

/** Measures how long media actually played. */
export interface WatchedTime {
  readonly ms: number;
  /**
   * Updates the media position to `mediaMs`. `visible` indicates whether the player could see the video since the
   * previous update.
   */
  moveTo(mediaMs: number, visible: boolean): void;
}

/**
 * Measures watch time as media time or real time, whichever is smaller. Seeking and faster playback advance media time
 * more than real time. A pause or stall advances only real time.
 */
export function createWatchedTime(clock: Pick<Clock, 'monotonic'>): WatchedTime {
  let mediaSum = 0;
  let realSum = 0;
  let lastMedia = 0;
  let lastReal = clock.monotonic();
  return {
    get ms() {
      return Math.round(Math.min(mediaSum, realSum));
    },
    moveTo(mediaMs, visible) {
      const now = clock.monotonic();
      const movedMs = mediaMs - lastMedia;
      if (visible && movedMs > 0) {
        mediaSum += movedMs;
        // Real time is capped in each step. Otherwise, time spent stalled could offset a later seek.
        realSum += Math.min(now - lastReal, movedMs + 50);
      }
      lastMedia = mediaMs;
      lastReal = now;
    },
  };
}

/** How long to wait for `canplaythrough` after the first frame, in milliseconds. */
const bufferGraceMs = 1_500;
/** Minimum time between two `progress` events, in milliseconds. Browsers fire `timeupdate` 4 to 66 times a second. */
const minProgressIntervalMs = 240;

/** Renders a video that plays once, with sound if the browser allows it. */
export const renderVideo: Renderer = async (creative, { clock, locale, signal }) => {
  const { media } = creative;
  if (media.format !== 'video') throw new Error('format_unknown');
  const video = document.createElement('video');
  markOwnMedia(video);
  const file = chooseFile(media.files, screenWidth(), (mime) => video.canPlayType(mime) !== '');
  if (file === undefined) throw new Error('no_playable_file');
  video.playsInline = true;
  video.preload = 'auto';
  video.disablePictureInPicture = true;
  video.disableRemotePlayback = true;
  video.setAttribute('aria-label', creative.alt);
  if (media.poster !== undefined) video.poster = media.poster;
  addCaptions(video, media, locale);
  video.src = file.url;
  try {
    await waitUntilBuffered(video, clock, signal);
    if (Number.isFinite(video.duration) && !hasDeclaredLength(video.duration * 1_000, media))
      throw new Error('media_duration');
  } catch (error) {
    const { src } = video;
    const hasFailed = video.error !== null;
    unload(video);
    if (!hasFailed || !(error instanceof Error)) throw error;
    const code = await findLoadFailure(src, error.message, { clock, signal });
    signal.throwIfAborted();
    throw new Error(code, { cause: error });
  }
  return createLoadedVideo(video, media, clock);
};

/**
 * Tolerance for a file's length, as a fraction. The service accepts a reward if 95% of the declared length was watched,
 * so nobody could earn the reward of a file that is shorter than that.
 */
const lengthTolerance = 0.05;
/** How much longer a file may also be, in milliseconds. Encoders round up to whole frames and audio packets. */
const extraLengthMs = 500;

const isTooShort = (lengthMs: number, { duration_ms: declaredMs }: VideoMedia): boolean =>
  lengthMs < declaredMs * (1 - lengthTolerance);
const isTooLong = (lengthMs: number, { duration_ms: declaredMs }: VideoMedia): boolean =>
  lengthMs > declaredMs * (1 + lengthTolerance) + extraLengthMs;
const hasDeclaredLength = (lengthMs: number, media: VideoMedia): boolean =>
  !isTooShort(lengthMs, media) && !isTooLong(lengthMs, media);

/** Shows captions in the player's language, or the first track if there are none in that language. */
function addCaptions(video: HTMLVideoElement, { captions = [] }: VideoMedia, locale: string): void {
  const language = (tag: string) => tag.split('-')[0]?.toLowerCase();
  const defaultCaption =
    captions.find((caption) => language(caption.language) === language(locale)) ?? captions[0];
  for (const caption of captions) {
    // Browsers load cross-origin captions only for a video that is also requested with CORS.
    video.crossOrigin = 'anonymous';
    const track = document.createElement('track');
    track.kind = 'captions';
    track.label = caption.label;
    track.srclang = caption.language;
    track.src = caption.url;
    track.default = caption === defaultCaption;
    video.append(track);
  }
}

function unload(video: HTMLVideoElement): void {
  // Browsers close the connection and release the decoder only when the source is empty.
  Reflect.apply(native.pause, video, []);
  // Chromium never releases a video while its captions are showing.
  for (const track of video.textTracks) track.mode = 'disabled';
  video.removeAttribute('src');
  video.load();
  video.remove();
}

function waitUntilBuffered(
  video: HTMLVideoElement,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const listenerController = new AbortController();
  let cancelGrace: (() => void) | undefined;
  return new Promise<void>((resolve, reject) => {
    const on = (target: EventTarget, type: string, handler: () => void) =>
      listenTo(target, type, handler, { signal: listenerController.signal });
    on(video, 'canplaythrough', resolve);
    on(video, 'loadeddata', () => {
      cancelGrace = clock.after(bufferGraceMs, resolve);
    });
    on(video, 'error', () => reject(new Error(findErrorCode(video))));
    on(signal, 'abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  }).finally(() => {
    listenerController.abort();
    cancelGrace?.();
  });
}

/** The SDK's error codes, indexed by `MediaError.code`. */
const errorCodes = [
  'media_failed',
  'media_aborted',
  'media_network',
  'media_decode',
  'media_not_supported',
] as const;

function findErrorCode(video: HTMLVideoElement): Reason {
  return errorCodes[video.error?.code ?? 0] ?? 'media_failed';
}

function createLoadedVideo(
  video: HTMLVideoElement,
  media: VideoMedia,
  clock: Clock,
): LoadedCreative {
  const destroyController = new AbortController();
  const durationMs = Number.isFinite(video.duration)
    ? Math.round(video.duration * 1000)
    : media.duration_ms;
  const watchedTime = createWatchedTime(clock);
  let listener: ((event: RendererEvent) => void) | undefined;
  let shouldPlay = false;
  let playback: Playback = 'held';
  /** Whether the page has been visible since the last call of `sample`. */
  let visible = !native.isHidden();
  let cancelPaint: (() => void) | undefined;
  let stopVisibility: (() => void) | undefined;

  const emit = (event: RendererEvent) => listener?.(event);

  function setMuted(muted: boolean): void {
    video.muted = muted;
    if (!muted && video.volume === 0) video.volume = 1;
  }

  /** A browser extension that speeds up every video would make it end before it was watched. */
  function keepRate(): void {
    if (video.playbackRate > 1) video.playbackRate = 1;
  }

  const reportSound = () => emit({ type: 'muted', muted: video.muted || video.volume === 0 });

  /** Reports what the element is doing. Its own state is the only evidence, because anyone may have changed it. */
  function update(): void {
    const isBuffered = video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA;
    const next =
      !shouldPlay || video.ended
        ? 'held'
        : video.paused
          ? 'blocked'
          : isBuffered
            ? 'playing'
            : 'waiting';
    if (next === playback) return;
    playback = next;
    emit({ type: 'playback', state: next });
  }

  /** Counts the time since the last call as watched if the page was visible all the time. */
  function sample(): void {
    watchedTime.moveTo(video.currentTime * 1000, visible);
    visible = !native.isHidden();
  }

  async function play(): Promise<void> {
    // It would start again.
    if (video.ended) return;
    shouldPlay = true;
    try {
      await Reflect.apply(native.play, video, []);
      update();
    } catch (error) {
      const name = error instanceof DOMException ? error.name : '';
      if (!shouldPlay || destroyController.signal.aborted) return;
      // `play()` also rejects if the video is paused or unloaded before playback starts. That is not a failure.
      if (name === 'AbortError' || (name === 'NotAllowedError' && video.muted)) {
        update();
      } else if (name === 'NotAllowedError') {
        setMuted(true);
        await play();
      } else {
        emit({ type: 'failed', reason: 'play_refused' });
      }
    }
  }

  function listen(): void {
    let reportedAt = -Infinity;
    const { signal } = destroyController;
    const on = (type: string, handler: () => void) => listenTo(video, type, handler, { signal });
    const fail = (reason: Reason) => emit({ type: 'failed', reason });
    const progress = (always: boolean) => {
      update();
      sample();
      const now = clock.monotonic();
      if (!always && now - reportedAt < minProgressIntervalMs) return;
      reportedAt = now;
      emit({ type: 'progress', watchedMs: watchedTime.ms, durationMs });
      // The length of a live recording is known only at its end.
      if (isTooLong(video.currentTime * 1_000, media)) fail('media_duration');
    };
    for (const type of ['play', 'playing', 'pause', 'waiting', 'stalled', 'canplay'])
      on(type, update);
    on('volumechange', reportSound);
    on('ratechange', keepRate);
    on('timeupdate', () => progress(false));
    on('error', () => fail(findErrorCode(video)));
    on('ended', () => {
      progress(true);
      emit({ type: 'ended' });
    });
    // Browsers fire no `timeupdate` at that moment, so up to 250 ms before it would be lost.
    stopVisibility = onVisibilityChange(sample);
    // When `playing` fires, the first frame is already decoded. `requestVideoFrameCallback` would report the second
    // frame.
    const onPlaying = (): void => {
      cancelPaint = afterPaint(() => emit({ type: 'painted' }));
    };
    listenTo(video, 'playing', onPlaying, { once: true, signal });
  }

  return {
    element: video,
    durationMs,
    start(onEvent) {
      listener = onEvent;
      visible = !native.isHidden();
      listen();
      keepRate();
      reportSound();
      void play();
    },
    pause() {
      shouldPlay = false;
      Reflect.apply(native.pause, video, []);
      update();
    },
    resume: () => void play(),
    setMuted,
    destroy() {
      destroyController.abort();
      cancelPaint?.();
      stopVisibility?.();
      listener = undefined;
      unload(video);
    },
  };
}
