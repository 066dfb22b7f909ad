import type { Reason } from '../outcome.ts';
import type { DecisionCreative } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';

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
  /** What the media is doing. Videos report every change, whoever caused it. */
  | { type: 'playback'; state: Playback }
  | { type: 'failed'; reason: Reason };

/**
 * What a creative's media is doing.
 *
 * - `playing`: it advances.
 * - `waiting`: it plays, but its data has not arrived.
 * - `blocked`: it should play, but the browser didn't let it start, or the system or a media key paused it. Only the
 *   player can resume it.
 * - `held`: it has not started, this code paused it, or it has ended.
 */
export type Playback = 'playing' | 'waiting' | 'blocked' | 'held';

/** A creative that is loaded and can be shown immediately. */
export interface LoadedCreative {
  /**
   * The element to show in the overlay. If the element already has a parent, that parent becomes the overlay's host,
   * because moving an iframe reloads it.
   */
  readonly element: HTMLElement;
  /** Duration of the creative, in milliseconds. */
  readonly durationMs: number;
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
