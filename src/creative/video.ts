import type { VideoMedia } from '../../protocol/wire.ts';
import type { Reason } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { LoadedCreative, Renderer, RendererEvent } from './renderer.ts';
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
  } catch (error) {
    unload(video);
    throw error;
  }
  return createLoadedVideo(video, media, clock);
};

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
  video.pause();
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
  const once = { signal: listenerController.signal };
  let cancelGrace: (() => void) | undefined;
  return new Promise<void>((resolve, reject) => {
    video.addEventListener('canplaythrough', () => resolve(), once);
    video.addEventListener(
      'loadeddata',
      () => {
        cancelGrace = clock.after(bufferGraceMs, resolve);
      },
      once,
    );
    video.addEventListener('error', () => reject(new Error(findErrorCode(video))), once);
    signal.addEventListener('abort', () => reject(signal.reason), once);
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
  let listener: ((event: RendererEvent) => void) | undefined;
  let shouldPlay = false;
  let cancelPaint: (() => void) | undefined;

  const emit = (event: RendererEvent) => listener?.(event);

  function setMuted(muted: boolean): void {
    video.muted = muted;
    emit({ type: 'muted', muted });
  }

  async function play(): Promise<void> {
    shouldPlay = true;
    try {
      await video.play();
    } catch (error) {
      const name = error instanceof DOMException ? error.name : '';
      // `play()` also rejects if the video is paused or unloaded before playback starts. That is not a failure.
      if (!shouldPlay || destroyController.signal.aborted || name === 'AbortError') return;
      if (name !== 'NotAllowedError') {
        emit({ type: 'failed', reason: 'play_refused' });
      } else if (video.muted) {
        emit({ type: 'tapNeeded' });
      } else {
        setMuted(true);
        await play();
      }
    }
  }

  function listen(): void {
    const watchedTime = createWatchedTime(clock);
    let reportedAt = -Infinity;
    const on = (type: string, handler: () => void) =>
      video.addEventListener(type, handler, { signal: destroyController.signal });
    const progress = (always: boolean) => {
      watchedTime.moveTo(video.currentTime * 1000, !document.hidden);
      const now = clock.monotonic();
      if (!always && now - reportedAt < minProgressIntervalMs) return;
      reportedAt = now;
      emit({ type: 'progress', watchedMs: watchedTime.ms, durationMs });
    };
    on('timeupdate', () => progress(false));
    on('waiting', () => emit({ type: 'waiting' }));
    on('error', () => emit({ type: 'failed', reason: findErrorCode(video) }));
    on('ended', () => {
      progress(true);
      emit({ type: 'ended' });
    });
    // If a media key or the system paused the video, only the player can resume it.
    on('pause', () => {
      if (shouldPlay && video.paused && !video.ended) emit({ type: 'tapNeeded' });
    });
    // When `playing` fires, the first frame is already decoded. `requestVideoFrameCallback` would report the second
    // frame.
    const onPlaying = (): void => {
      cancelPaint = afterPaint(() => emit({ type: 'painted' }));
    };
    video.addEventListener('playing', onPlaying, { once: true, signal: destroyController.signal });
  }

  return {
    element: video,
    durationMs,
    start(onEvent) {
      listener = onEvent;
      listen();
      emit({ type: 'muted', muted: video.muted });
      void play();
    },
    pause() {
      shouldPlay = false;
      video.pause();
    },
    resume: () => void play(),
    setMuted,
    destroy() {
      destroyController.abort();
      cancelPaint?.();
      listener = undefined;
      unload(video);
    },
  };
}
