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

/**
 * How long to wait for `canplaythrough` after the first frame, in milliseconds, or for the first frame if the browser has
 * stopped loading: for players who save data, it loads nothing until playback begins.
 */
const bufferGraceMs = 1_500;
/** How often to look at a video whose events don't arrive, in milliseconds. */
const pollMs = 250;
/** How much of a video may play before its first frame is on the screen, in seconds. */
const maxUnseenSeconds = 0.5;
/**
 * How often to look at a video, for five seconds in all, until it counts as shown without a frame of the page: there may be
 * none.
 */
const maxUnseenPolls = 20;

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
  // A game that pauses all media doesn't pause its ad.
  video.pause = () => {};
  video.setAttribute('aria-label', creative.alt);
  if (media.poster !== undefined) video.poster = media.poster;
  // Browsers load cross-origin captions only for a video that is also requested with CORS.
  if (media.captions?.length) video.crossOrigin = 'anonymous';
  video.src = file.url;
  try {
    await waitUntilBuffered(video, clock, signal);
    const lengthMs = video.duration * 1_000;
    if (isTooShort(lengthMs, media) || (lengthMs < Infinity && isTooLong(lengthMs, media)))
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
  // A video waits for captions that it has from the beginning, even if they never arrive.
  addCaptions(video, media, locale);
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

/** Shows captions in the player's language, or the first track if there are none in that language. */
function addCaptions(video: HTMLVideoElement, { captions = [] }: VideoMedia, locale: string): void {
  const language = (tag: string) => tag.split('-')[0]?.toLowerCase();
  const defaultCaption =
    captions.find((caption) => language(caption.language) === language(locale)) ?? captions[0];
  for (const caption of captions) {
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

/** The events after which a video's state may be another one. */
const stateEvents = ['canplaythrough', 'playing', 'pause', 'waiting', 'volumechange'].concat([
  'ratechange',
  'timeupdate',
  'ended',
  'error',
]);

/**
 * Calls `check` after the events of a video, and regularly without one, because a page can stop events before they
 * arrive. Returns a function that ends the calls.
 */
function watchState(
  video: HTMLVideoElement,
  clock: Clock,
  check: (event?: Event) => void,
): () => void {
  const stops = stateEvents.map((type) => listenTo(video, type, check));
  const poll = (): void => {
    stops[0] = clock.after(pollMs, poll);
    check();
  };
  stops.unshift(clock.after(pollMs, poll));
  return () => stops.forEach((stop) => stop());
}

function waitUntilBuffered(
  video: HTMLVideoElement,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let stops: (() => void)[] = [];
  return new Promise<void>((resolve, reject) => {
    const stopWatching = watchState(video, clock, () => {
      if (video.error) reject(new Error(findErrorCode(video)));
      else if (video.readyState === HTMLMediaElement.HAVE_ENOUGH_DATA) resolve();
      else if (
        video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA ||
        video.networkState === HTMLMediaElement.NETWORK_IDLE
      )
        stops[2] ??= clock.after(bufferGraceMs, resolve);
    });
    stops = [stopWatching, listenTo(signal, 'abort', () => reject(signal.reason))];
    if (signal.aborted) reject(signal.reason);
  }).finally(() => stops.forEach((stop) => stop()));
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
  const durationMs = Number.isFinite(video.duration)
    ? Math.round(video.duration * 1000)
    : media.duration_ms;
  let watchedTime = createWatchedTime(clock);
  let listener: ((event: RendererEvent) => void) | undefined;
  let shouldPlay = false;
  let playback: Playback = 'held';
  /** Whether the page has been visible since the last call of `sample`. */
  let visible = !native.isHidden();
  let soundMuted: boolean | undefined;
  let reportedMs = -1;
  let isPainted = false;
  let unseenPolls = 0;
  let hasEnded = false;
  let cancelPaint: (() => void) | undefined;
  let stops: (() => void)[] = [];

  const emit = (event: RendererEvent) => listener?.(event);

  function setMuted(muted: boolean): void {
    video.muted = muted;
    if (!muted && video.volume === 0) video.volume = 1;
  }

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
      if (!shouldPlay || !listener) return;
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

  /** What has played so far is shown again if the page was too busy to show it. Otherwise, it would prove too little. */
  function onPainted(): void {
    if (video.currentTime > maxUnseenSeconds) {
      watchedTime = createWatchedTime(clock);
      video.currentTime = 0;
      if (shouldPlay) void play();
    }
    isPainted = true;
    emit({ type: 'painted' });
  }

  /** Reports everything that has changed. */
  function check(event?: Event): void {
    // Some pages and extensions change every video. A faster one would end before it was watched, a repeated one never.
    if (video.playbackRate !== 1) video.playbackRate = 1;
    video.loop = false;
    const isSilent = video.muted || video.volume === 0;
    if (isSilent !== soundMuted) emit({ type: 'muted', muted: (soundMuted = isSilent) });
    if (video.error) emit({ type: 'failed', reason: findErrorCode(video) });
    // When `playing` fires, the first frame is already decoded. `requestVideoFrameCallback` would report the second
    // frame.
    if (event?.type === 'playing' || video.currentTime > 0) cancelPaint ??= afterPaint(onPainted);
    // A page that is busy makes no frame and no poll.
    if (cancelPaint && !event) unseenPolls += 1;
    const isSeen = isPainted || unseenPolls > maxUnseenPolls;
    if (video.ended && !isSeen) return;
    update();
    sample();
    if (!isSeen) return;
    const endsNow = video.ended && !hasEnded;
    if (endsNow || watchedTime.ms !== reportedMs)
      emit({ type: 'progress', watchedMs: (reportedMs = watchedTime.ms), durationMs });
    // The length of a live recording is known only at its end.
    if (isTooLong(video.currentTime * 1_000, media))
      emit({ type: 'failed', reason: 'media_duration' });
    hasEnded = video.ended;
    if (endsNow) emit({ type: 'ended' });
  }

  return {
    element: video,
    durationMs,
    start(onEvent) {
      listener = onEvent;
      visible = !native.isHidden();
      stops = [
        watchState(video, clock, check),
        // Browsers fire no `timeupdate` at that moment, so up to 250 ms before it would be lost.
        onVisibilityChange(sample),
      ];
      check();
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
      stops.forEach((stop) => stop());
      cancelPaint?.();
      listener = undefined;
      unload(video);
    },
  };
}
