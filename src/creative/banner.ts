import type { ShowResult } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { LoadedCreative } from './renderer.ts';
import { watchViewability, type Visibility } from './viewability.ts';

/** A house ad inside the page. */
export interface Banner {
  /** Takes it out of the page, or ends its request. May be called twice. */
  remove(): void;
  /** How it went: `completed` once it is on the page, otherwise why there is none. */
  readonly result: Promise<ShowResult>;
}

export interface BannerHooks {
  painted(): void;
  viewed(visibility: Visibility): void;
  /** Once, however often the player clicks. */
  clicked(): void;
  failed(reason: string): void;
}

/** Puts a loaded creative into `element`. The function that it returns takes it out again. */
export function mountBanner(
  element: HTMLElement,
  creative: LoadedCreative,
  options: { clock: Clock; clickUrl?: string | undefined; hooks: BannerHooks },
): () => void {
  const { clickUrl, clock, hooks } = options;
  const { style } = creative.element;
  style.display = 'block';
  style.maxWidth = '100%';
  style.cursor = clickUrl === undefined ? '' : 'pointer';
  let clicked = false;
  element.append(creative.element);
  const viewability = watchViewability(creative.element, {
    clock,
    requiredMs: 1_000,
    onViewable: hooks.viewed,
  });
  creative.start((event) => {
    if (event.type === 'painted') hooks.painted();
    else if (event.type === 'failed') hooks.failed(event.reason);
    else if (event.type === 'clicked' && clickUrl !== undefined) {
      open(clickUrl, '_blank', 'noopener');
      if (!clicked) hooks.clicked();
      clicked = true;
    }
  });
  return () => {
    viewability.destroy();
    creative.destroy();
  };
}
