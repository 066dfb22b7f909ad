import type { DecisionCreative } from '../../protocol/wire.ts';
import type { Clock } from '../platform/clock.ts';
import type { LoadedCreative, Renderer } from './renderer.ts';

/** Each renderer is a chunk of its own: a game pays only for the formats that it shows. */
const renderers: Record<DecisionCreative['media']['format'], () => Promise<Renderer>> = {
  video: async () => (await import('./video.ts')).renderVideo,
  image: async () => (await import('./image.ts')).renderImage,
  html: async () => (await import('./html.ts')).renderHtml,
};

/** How long an image or HTML creative is shown where the decision does not say, in milliseconds. */
const defaultMinWatchMs = 5_000;

/**
 * Loads the creative of a decision so far that it can be shown at once.
 *
 * @throws The reason of `signal` when it aborts, otherwise an `Error` with a stable word as message.
 */
export async function loadCreative(
  decision: { creative: DecisionCreative; min_watch_ms?: number },
  options: { clock: Clock; signal: AbortSignal; locale?: string },
): Promise<LoadedCreative> {
  const load = renderers[decision.creative.media.format];
  if (load === undefined) throw new Error('format_unknown');
  const render = await load().catch(() => {
    throw new Error('chunk_not_loaded');
  });
  options.signal.throwIfAborted();
  return render(decision.creative, {
    minWatchMs: decision.min_watch_ms ?? defaultMinWatchMs,
    locale: navigator.language,
    ...options,
  });
}
