import type { Reason } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { LoadedCreative } from './renderer.ts';
import { watchViewability, type Visibility } from './viewability.ts';

export interface BannerHooks {
  painted(): void;
  viewed(visibility: Visibility): void;
  /** Called once, even if the player clicks several times. */
  clicked(): void;
  failed(reason: Reason): void;
}

/** Inserts a loaded creative into `element`. Returns a function that removes it. */
export function mountBanner(
  element: HTMLElement,
  creative: LoadedCreative,
  options: { clock: Clock; clickUrl?: string | undefined; hooks: BannerHooks },
): () => void {
  const { clickUrl, clock, hooks } = options;
  const link = document.createElement('a');
  let clicked = false;
  // Other schemes, such as `javascript:`, could run a script in this page.
  if (clickUrl !== undefined && /^https?:/i.test(clickUrl)) link.href = clickUrl;
  link.target = '_blank';
  link.rel = 'noopener';
  link.style.display = 'block';
  link.onclick = () => {
    if (!clicked && link.href !== '') hooks.clicked();
    clicked = true;
  };
  const { style } = creative.element;
  style.display = 'block';
  style.maxWidth = '100%';
  style.margin = 'auto';
  link.append(creative.element);
  element.append(link);
  const viewability = watchViewability(creative.element, {
    clock,
    requiredMs: 1_000,
    onViewable: hooks.viewed,
  });
  creative.start((event) => {
    if (event.type === 'painted') hooks.painted();
    else if (event.type === 'failed') hooks.failed(event.reason);
    // The link itself handles a click on an image. A click inside an iframe does not reach the link.
    else if (event.type === 'clicked' && creative.element.tagName === 'IFRAME') link.click();
  });
  return () => {
    viewability.destroy();
    creative.destroy();
    link.remove();
  };
}
