import { mountBanner } from '../../../../src/creative/banner.ts';
import { openOverlay } from '../../../../src/creative/overlay.ts';
import { type LoadedCreative, loadCreative } from '../../../../src/creative/renderer.ts';
import { stringsFor } from '../../../../src/creative/strings.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { PreviewAnswer, PreviewMessage } from './preview-message.ts';

/**
 * Shows an ad by the renderers and the overlay of the SDK itself. This page runs in a sandboxed frame
 * with an origin of its own: whatever an ad does, it does not reach the panel.
 */
const minWatchMs = 15_000;
let takeDown = () => {};
/** The panel makes its frames inert: nobody can press anything here. */
const quiet = () => {};

// The keyboard belongs to whoever fills in the form around this frame: an inert frame can still take
// it by script, and a modal dialog takes it when it opens.
HTMLElement.prototype.focus = quiet;
HTMLDialogElement.prototype.showModal = function showWithoutFocus() {
  this.open = true;
};

const answer = (message: PreviewAnswer) => parent.postMessage(message, '*');

async function show({ creative, format, reward }: PreviewMessage): Promise<void> {
  takeDown();
  const loading = new AbortController();
  takeDown = () => loading.abort();
  const options = { clock: systemClock, signal: loading.signal, locale: 'en' };
  const loaded = await loadCreative({ creative, min_watch_ms: minWatchMs }, options);
  takeDown =
    format === 'banner' ? showBanner(loaded, creative) : await cover(loaded, creative, reward);
  answer({ trueward: 'shown' });
}

function showBanner(loaded: LoadedCreative, creative: PreviewMessage['creative']): () => void {
  return mountBanner(document.body, loaded, {
    clock: systemClock,
    clickUrl: creative.click_url,
    hooks: { painted: quiet, viewed: quiet, clicked: quiet, failed: fail },
  });
}

async function cover(
  loaded: LoadedCreative,
  { alt, click_url: clickUrl }: PreviewMessage['creative'],
  reward: PreviewMessage['reward'],
): Promise<() => void> {
  const strings = await stringsFor('en');
  const overlay = openOverlay(
    { element: loaded.element, strings, alt, clickUrl, reward },
    {
      closeRequested: quiet,
      closeConfirmed: quiet,
      closeCancelled: quiet,
      clicked: quiet,
      muteToggled: quiet,
      tapped: quiet,
    },
  );
  overlay.allowClose();
  loaded.start((event) => {
    if (event.type === 'progress') overlay.progress(event.watchedMs, loaded.durationMs);
    else if (event.type === 'muted') overlay.setMuted(event.muted);
    else if (event.type === 'tapNeeded') overlay.askTap(true);
    else if (event.type === 'ended') overlay.showEndCard();
    else if (event.type === 'failed') fail(event.reason);
  });
  // Several sizes play at once: none of them aloud.
  loaded.setMuted(true);
  return () => {
    overlay.close();
    loaded.destroy();
  };
}

const fail = (reason: string) => answer({ trueward: 'failed', reason });

addEventListener('message', ({ data, source }: MessageEvent<PreviewMessage>) => {
  if (source !== parent || data?.trueward !== 'preview') return;
  show(data).catch((error: unknown) => fail(error instanceof Error ? error.message : 'unknown'));
});
answer({ trueward: 'ready' });
