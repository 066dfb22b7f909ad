import type { Reason } from '../outcome.ts';
import type { DecisionCreative } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';

/** What a renderer tells of the creative it shows. Each comes from the media's or the page's own event, never from our call. */
export type RendererEvent =
  /** The first frame is on the screen. */
  | { type: 'painted' }
  /** Time moved on; `watchedMs` counts only what played in a visible page. */
  | { type: 'progress'; watchedMs: number; durationMs: number }
  /** It was shown to its end. */
  | { type: 'ended' }
  /** The player asked for the advertiser's page. */
  | { type: 'clicked' }
  /** The creative itself asked to be closed. */
  | { type: 'closeRequested' }
  /** Whether the sound is off; told at the start and at each change, by creatives that have sound. */
  | { type: 'muted'; muted: boolean }
  /** Not even muted playback was allowed: a tap is needed. */
  | { type: 'tapNeeded' }
  /** Playback stands still though it should not. */
  | { type: 'waiting' }
  | { type: 'failed'; reason: Reason };

/** A creative that is loaded and can be shown at once. */
export interface LoadedCreative {
  /**
   * What goes into the overlay. Where it has a parent already, that is the overlay's host: an iframe
   * that is moved in the page loads again.
   */
  readonly element: HTMLElement;
  /** How long it runs, in milliseconds. */
  readonly durationMs: number;
  /** Begins to play and to tell; called once, after `element` is in the page. */
  start(listener: (event: RendererEvent) => void): void;
  pause(): void;
  resume(): void;
  setMuted(muted: boolean): void;
  /** Removes the element and every listener and timer; may be called at any time, and twice. */
  destroy(): void;
}

/** Loads a creative of one media format. Rejects when it can't be loaded or `signal` aborts. */
export type Renderer = (
  creative: DecisionCreative,
  options: RenderOptions,
) => Promise<LoadedCreative>;

export interface RenderOptions {
  /** How long a creative without a length of its own (image, HTML) is to be shown, in milliseconds. */
  minWatchMs: number;
  /** BCP 47; an HTML creative is told it. */
  locale: string;
  clock: Clock;
  /** Ends the loading, for a time-out too. */
  signal: AbortSignal;
}
