import type { Reason } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { listen } from '../platform/native.ts';
import { dressHost, findHost } from './host.ts';
import { watchView } from './page-cover.ts';
import type { LoadedCreative, RendererEvent } from './renderer.ts';
import { watchViewability, type Visibility } from './viewability.ts';

export interface BannerHooks {
  painted(): void;
  viewed(visibility: Visibility): void;
  /** Nobody has been able to see the banner so far. It may be further down on the page. */
  unseen(cause: string): void;
  /** Called once, even if the player clicks several times. */
  clicked(): void;
  failed(reason: Reason): void;
}

/** How long to wait before resuming a banner that the system paused, in milliseconds. */
const resumeDelayMs = 2_000;

/** A frame is as wide as its design, or as the game's element if that is narrower. */
const style = `
:host { display: block !important }
a { display: block }
::slotted(*) { display: block !important; max-width: 100% !important; margin: auto !important; cursor: inherit !important }
::slotted(iframe) {
  width: var(--trueward-width, 300px) !important; height: auto !important;
  aspect-ratio: var(--trueward-ratio, 2) !important;
}
`;

/**
 * Inserts a loaded creative into `element`. A banner is silent, because it has no sound control, and it plays only while
 * it is in view. Returns a function that removes it.
 */
export function mountBanner(
  element: HTMLElement,
  creative: LoadedCreative,
  options: { clock: Clock; clickUrl?: string | undefined; hooks: BannerHooks },
): () => void {
  const { clickUrl, clock, hooks } = options;
  const isVideo = creative.element.tagName === 'VIDEO';
  const link = document.createElement('a');
  let clicked = false;
  let inView = true;
  let blocked = false;
  let cancelResume: (() => void) | undefined;
  // Other schemes, such as `javascript:`, could run a script in this page.
  if (clickUrl !== undefined && /^https?:/i.test(clickUrl)) link.href = clickUrl;
  link.target = '_blank';
  link.rel = 'noopener';
  const onClick = (): void => {
    if (!clicked && link.href !== '') hooks.clicked();
    clicked = true;
  };
  link.onclick = onClick;
  // A click with the middle button opens a new tab.
  link.onauxclick = ({ button }) => button === 1 && onClick();
  link.append(document.createElement('slot'));
  const host = findHost(creative.element);
  dressHost(host, element, style).append(link);
  element.append(host);
  const viewability = watchViewability(creative.element, {
    clock,
    isVideo,
    onViewable: hooks.viewed,
    onUnseen: hooks.unseen,
  });
  if (isVideo) viewability.setPlaying(false);

  /** Resumes a banner that the system paused or did not let start. There is no prompt for the player to tap. */
  function resumeIfBlocked(): void {
    if (blocked && inView) creative.resume();
    scheduleResume();
  }
  function scheduleResume(): void {
    cancelResume?.();
    if (blocked && inView) cancelResume = clock.after(resumeDelayMs, resumeIfBlocked);
  }
  function onEvent(event: RendererEvent): void {
    switch (event.type) {
      case 'painted':
        return hooks.painted();
      case 'failed':
        return hooks.failed(event.reason);
      case 'clicked':
        // The link itself handles a click on an image. A click inside an iframe does not reach the link.
        return creative.element.tagName === 'IFRAME' ? link.click() : undefined;
      case 'playback':
        blocked = event.state === 'blocked';
        viewability.setPlaying(event.state === 'playing');
        return scheduleResume();
      default:
        return undefined;
    }
  }

  creative.setMuted(true);
  creative.start(onEvent);
  const stopWatching = watchView(creative.element, (isInView) => {
    inView = isInView;
    if (inView) creative.resume();
    else creative.pause();
    scheduleResume();
  });
  // Some browsers let even a silent video start only while the player touches the page.
  const stopListening = listen(window, 'pointerup', resumeIfBlocked, { capture: true });
  return () => {
    stopListening();
    stopWatching();
    cancelResume?.();
    viewability.destroy();
    creative.destroy();
    host.remove();
  };
}
