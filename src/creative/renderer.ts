import type { Reason } from '../outcome.ts';
import type { DecisionCreative } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type * as externalAd from './external-ad.ts';

/** An event that a renderer reports about its creative. */
export type RendererEvent =
  /** The first frame is on the screen. */
  | { type: 'painted' }
  /** Playback progressed. `watchedMs` counts only time during which the page was visible. */
  | { type: 'progress'; watchedMs: number; durationMs: number }
  /** The creative played to the end. */
  | { type: 'ended' }
  /** The player wants to open the advertiser's page. */
  | { type: 'clicked' }
  /** The creative asked to be closed. */
  | { type: 'closeRequested' }
  /** Whether sound is off. Creatives with sound report this at the start and whenever it changes. */
  | { type: 'muted'; muted: boolean }
  /** The player has to tap, because the browser blocked muted playback or the system paused the video. */
  | { type: 'tapNeeded' }
  /** Playback has stalled. */
  | { type: 'waiting' }
  | { type: 'failed'; reason: Reason };

/** A creative that is loaded and can be shown immediately. */
export interface LoadedCreative {
  /**
   * The element to show in the overlay. If the element already has a parent, that parent becomes the overlay's host,
   * because moving an iframe reloads it.
   */
  readonly element: HTMLElement;
  /** Duration of the creative, in milliseconds. */
  readonly durationMs: number;
  /** The module for ads with an `advertiser`. It is not loaded for other ads. */
  readonly externalAd?: typeof externalAd | undefined;
  /** Starts playback and reporting. Called once, after `element` is in the page. */
  start(listener: (event: RendererEvent) => void): void;
  pause(): void;
  resume(): void;
  setMuted(muted: boolean): void;
  /** Removes the element and all its listeners and timers. May be called at any time, and more than once. */
  destroy(): void;
}

/** Loads a creative of one media format. Rejects if it cannot be loaded or `signal` aborts. */
export type Renderer = (
  creative: DecisionCreative,
  options: RenderOptions,
) => Promise<LoadedCreative>;

export interface RenderOptions {
  /** How long to show a creative without a duration (image, HTML), in milliseconds. */
  minWatchMs: number;
  /** The player's language, as a BCP 47 tag. It is passed to HTML creatives. */
  locale: string;
  clock: Clock;
  /** Aborts when loading is canceled or times out. */
  signal: AbortSignal;
}

/** Each renderer is a separate chunk, so that a game loads only the formats that it shows. */
const renderers: Record<DecisionCreative['media']['format'], () => Promise<Renderer>> = {
  video: async () => (await import('./video.ts')).renderVideo,
  image: async () => (await import('./image.ts')).renderImage,
  html: async () => (await import('./html.ts')).renderHtml,
};

/** How long an image or HTML creative is shown if the decision does not specify a watch time, in milliseconds. */
const defaultMinWatchMs = 5_000;

/**
 * Loads a decision's creative so that it can be shown immediately.
 *
 * @throws The signal's reason if the signal aborts. Otherwise, an `Error` whose message is a stable code.
 */
export async function loadCreative(
  decision: { creative: DecisionCreative; min_watch_ms?: number },
  options: { clock: Clock; signal: AbortSignal; locale?: string },
): Promise<LoadedCreative> {
  const { creative } = decision;
  const load = renderers[creative.media.format];
  if (load === undefined) throw new Error('format_unknown');
  const [render, externalAd] = await Promise.all([
    load(),
    creative.advertiser === undefined ? undefined : import('./external-ad.ts'),
  ]).catch(() => {
    throw new Error('chunk_not_loaded');
  });
  options.signal.throwIfAborted();
  const loaded = await render(creative, {
    minWatchMs: decision.min_watch_ms ?? defaultMinWatchMs,
    locale: navigator.language,
    ...options,
  });
  return { ...loaded, externalAd };
}
