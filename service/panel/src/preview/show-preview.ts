import { mountBanner } from '../../../../src/creative/banner.ts';
import { loadCreative } from '../../../../src/creative/load-creative.ts';
import { openOverlay } from '../../../../src/creative/overlay.ts';
import type { LoadedCreative } from '../../../../src/creative/renderer.ts';
import { english } from '../../../../src/creative/strings.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { PreviewReply, PreviewMessage } from './preview-message.ts';

/*
 * Shows an ad with the SDK's own renderers and overlay. This page runs in a sandboxed frame with an opaque origin, so
 * that an ad cannot access the panel.
 */

const minWatchMs = 15_000;
let dispose = () => {};
/** Ignores user input. The panel's preview frames are inert, so there is none. */
const noop = () => {};

// Keep keyboard focus in the form around this frame. Scripts can focus elements in an inert frame, and a modal dialog
// takes focus when it opens.
HTMLElement.prototype.focus = noop;
HTMLDialogElement.prototype.showModal = function showWithoutFocus() {
  this.open = true;
};

const reply = (message: PreviewReply) => parent.postMessage(message, '*');

async function show({ creative, format, reward }: PreviewMessage): Promise<void> {
  dispose();
  const loadController = new AbortController();
  dispose = () => loadController.abort();
  const options = { clock: systemClock, signal: loadController.signal, locale: 'en' };
  const loadedCreative = await loadCreative({ creative, min_watch_ms: minWatchMs }, options);
  dispose =
    format === 'banner'
      ? showBanner(loadedCreative, creative)
      : showOverlay(loadedCreative, creative, reward);
  reply({ trueward: 'shown' });
}

function showBanner(
  loadedCreative: LoadedCreative,
  creative: PreviewMessage['creative'],
): () => void {
  return mountBanner(document.body, loadedCreative, {
    clock: systemClock,
    clickUrl: creative.click_url,
    hooks: { painted: noop, viewed: noop, unseen: noop, clicked: noop, failed: fail },
  });
}

function showOverlay(
  loadedCreative: LoadedCreative,
  creative: PreviewMessage['creative'],
  reward: PreviewMessage['reward'],
): () => void {
  const overlay = openOverlay(
    {
      element: loadedCreative.element,
      creative,
      strings: english,
      reward,
    },
    {
      closeRequested: noop,
      closeConfirmed: noop,
      closeCanceled: noop,
      clicked: noop,
      pageOpened: noop,
      muteToggled: noop,
      tapped: noop,
      removed: noop,
    },
  );
  overlay.allowClose();
  loadedCreative.start((event) => {
    if (event.type === 'progress') overlay.progress(event.watchedMs, loadedCreative.durationMs);
    else if (event.type === 'muted') overlay.setMuted(event.muted);
    else if (event.type === 'playback') overlay.setTapPrompt(event.state === 'blocked');
    else if (event.type === 'ended') overlay.showEndCard();
    else if (event.type === 'failed') fail(event.reason);
  });
  // All previews are muted, because several sizes play at the same time.
  loadedCreative.setMuted(true);
  return () => {
    overlay.close();
    loadedCreative.destroy();
  };
}

const fail = (reason: string) => reply({ trueward: 'failed', reason });

addEventListener('message', ({ data, source }: MessageEvent<PreviewMessage>) => {
  if (source !== parent || data?.trueward !== 'preview') return;
  show(data).catch((error: unknown) => fail(error instanceof Error ? error.message : 'unknown'));
});
reply({ trueward: 'ready' });
