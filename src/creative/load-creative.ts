import type { DecisionCreative, Media } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import { renderHtml } from './html.ts';
import { renderImage } from './image.ts';
import type { LoadedCreative, Renderer } from './renderer.ts';
import { renderVideo } from './video.ts';

const renderers: Record<Media['format'], Renderer> = {
  video: renderVideo,
  image: renderImage,
  html: renderHtml,
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
  const format = creative.media.format as Media['format'];
  // A later release of the service may know other formats.
  if (!Object.hasOwn(renderers, format)) throw new Error('format_unknown');
  options.signal.throwIfAborted();
  return renderers[format](creative, {
    minWatchMs: decision.min_watch_ms ?? defaultMinWatchMs,
    locale: navigator.language,
    ...options,
  });
}
