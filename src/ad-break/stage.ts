import { openOverlay, type Overlay } from '../creative/overlay.ts';
import type { RendererEvent } from '../creative/renderer.ts';
import type { OverlayStrings } from '../creative/strings.ts';
import { watchViewability } from '../creative/viewability.ts';
import type { ReadyAd } from '../decision/request-ad.ts';
import type { Clock } from '../platform/clock.ts';
import type { BreakEvent } from './machine.ts';

/** How long a playing ad may go without progress, in milliseconds. */
const stallMs = 8_000;
/** Default delay before the close button appears, in milliseconds, for decisions that do not specify it. */
const defaultCloseAfterMs = 5_000;
/** How long an end card stays before it closes by itself, in milliseconds. This makes sure that every ad break ends. */
const endCardMs = 10_000;
/**
 * How long to wait for a newly opened page to take focus, in milliseconds. After that, it counts as opened in the
 * background.
 */
const focusLossMs = 1_000;
/** How long the service accepts the impression of an ad that started in time but has expired since, in milliseconds. */
const impressionGraceMs = 60_000;
/** How long a prompt (play, confirm closing) stays open, in milliseconds. */
const promptTimeoutMs = 20_000;

/** The ad on the screen and its watchdogs. */
export interface Stage {
  /** The root element of the ad. */
  readonly element: HTMLElement;
  /**
   * Starts playback and event reporting. Separate from `openStage()`, so that a stage that fails to start can be
   * closed.
   */
  start(): void;
  pause(): void;
  resume(): void;
  allowClose(): void;
  promptClose(prompting: boolean): void;
  setWatched(): void;
  showEndCard(): void;
  /** Removes everything from the page. */
  close(): void;
}

/** Shows an ad over the page and dispatches its events. */
export function openStage(
  { creative, decision, expiry }: ReadyAd,
  options: {
    clock: Clock;
    strings: OverlayStrings;
    neededMs: number;
    muted: boolean | undefined;
    dispatch(event: BreakEvent): void;
  },
): Stage {
  const { clock, dispatch, neededMs, strings } = options;
  const { skip_after_ms: skipAfterMs = Infinity } = decision.creative;
  const video = decision.creative.media.format === 'video';
  let muted = false;
  let ended = false;
  let paused = false;
  let prompted = false;
  /** How long the ad may continue after its expiry, in milliseconds. */
  let graceMs = 0;
  let cancelWait: (() => void) | undefined;
  let cancelFocusCheck: (() => void) | undefined;

  /**
   * Dispatches the event, unless the ad has expired before it became viewable: then the ad ends. This happens when the
   * device slept or the page was hidden for a long time. Such an ad can no longer earn a reward, so the player would
   * watch it for nothing.
   */
  function dispatchUnlessExpired(event: BreakEvent): void {
    dispatch(expiry.leftMs() > -graceMs ? event : { type: 'failed', reason: 'expired' });
  }

  /** Pauses the ad while the player looks at a new window, which may leave this page visible. */
  function onPageOpened(): void {
    dispatch({ type: 'hidden' });
    cancelFocusCheck?.();
    cancelFocusCheck = clock.after(focusLossMs, () => document.hasFocus() && onVisibility());
  }

  const { element, externalAd } = creative;
  const overlay: Overlay = openOverlay(
    { element, externalAd, creative: decision.creative, strings, reward: decision.reward },
    {
      closeRequested: () => dispatch({ type: 'closeRequested' }),
      closeConfirmed: () => dispatch({ type: 'closeConfirmed' }),
      closeCancelled: () => dispatch({ type: 'closeCancelled' }),
      clicked() {
        dispatch({ type: 'clicked' });
        onPageOpened();
      },
      pageOpened: onPageOpened,
      muteToggled: () => creative.setMuted(!muted),
      tapped() {
        cancelWait?.();
        overlay.promptTap(false);
        resume();
      },
    },
  );
  const watchdog = createStallWatchdog(clock, stallMs, () => dispatch({ type: 'stalled' }));
  const viewability = watchViewability(creative.element, {
    clock,
    requiredMs: video ? 2_000 : 1_000,
    onViewable(visibility) {
      dispatchUnlessExpired({ type: 'viewed', ...visibility });
      graceMs = Infinity;
    },
  });
  viewability.setPlaying(false);
  const cancelCloseAfter = clock.after(decision.close_after_ms ?? defaultCloseAfterMs, () =>
    dispatch({ type: 'closeAllowed' }),
  );
  const onVisibility = () =>
    document.hidden ? dispatch({ type: 'hidden' }) : dispatchUnlessExpired({ type: 'visible' });
  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('focus', onVisibility);
  // In a game portal's iframe, focus may return to the portal instead. In that case, a press shows that the player is
  // back.
  window.addEventListener('pointerdown', onVisibility, true);

  /** Limits how long the ad waits for the player. */
  function waitAtMost(ms: number, event: BreakEvent): void {
    cancelWait?.();
    cancelWait = clock.after(ms, () => dispatch(event));
  }

  function onProgress(): void {
    // Events may still arrive after a pause.
    if (paused) return;
    watchdog.reset();
    viewability.setPlaying(true);
  }

  let watchedMs = -1;
  function onRendererEvent(event: RendererEvent): void {
    switch (event.type) {
      case 'progress':
        if (event.watchedMs > watchedMs) {
          watchedMs = event.watchedMs;
          onProgress();
        }
        overlay.progress(event.watchedMs, neededMs);
        if (watchedMs >= skipAfterMs) dispatch({ type: 'closeAllowed' });
        dispatchUnlessExpired(event);
        break;
      case 'painted':
        onProgress();
        dispatchUnlessExpired(event);
        graceMs ||= impressionGraceMs;
        break;
      case 'clicked':
        // The overlay's link reports the click.
        overlay.openPage();
        break;
      case 'muted':
        muted = event.muted;
        overlay.setMuted(muted);
        break;
      case 'tapNeeded':
        watchdog.stop();
        overlay.promptTap(true);
        waitAtMost(promptTimeoutMs, { type: 'stalled' });
        break;
      case 'closeRequested':
        // Prompts only once, because a creative that keeps requesting to close would otherwise keep the ad blocked.
        if (!prompted) dispatchUnlessExpired(event);
        break;
      case 'waiting':
        viewability.setPlaying(false);
        break;
      default:
        dispatchUnlessExpired(event);
    }
  }

  function resume(): void {
    paused = false;
    if (ended) return waitAtMost(endCardMs, { type: 'endCardOver' });
    watchdog.reset();
    creative.resume();
  }

  overlay.progress(0, neededMs);

  return {
    element: overlay.element,
    start() {
      watchdog.reset();
      // Mutes the ad before playback starts, so that no sound is heard at all.
      if (options.muted) creative.setMuted(true);
      creative.start(onRendererEvent);
    },
    pause() {
      paused = true;
      cancelWait?.();
      watchdog.stop();
      viewability.setPlaying(false);
      creative.pause();
    },
    resume,
    allowClose: overlay.allowClose,
    promptClose(prompting) {
      cancelWait?.();
      prompted ||= prompting;
      overlay.promptClose(prompting);
      if (prompting) waitAtMost(promptTimeoutMs, { type: 'closeCancelled' });
    },
    setWatched() {
      prompted = false;
      overlay.setWatched();
    },
    showEndCard() {
      ended = true;
      cancelWait?.();
      watchdog.stop();
      overlay.showEndCard();
      if (!document.hidden) resume();
    },
    close() {
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('focus', onVisibility);
      window.removeEventListener('pointerdown', onVisibility, true);
      cancelFocusCheck?.();
      cancelCloseAfter();
      cancelWait?.();
      watchdog.stop();
      viewability.destroy();
      overlay.close();
    },
  };
}

/** Reports an ad that should be playing but has made no progress for too long. */
export interface StallWatchdog {
  /** Restarts the timeout. Call it when the ad has made progress, or when it may make progress from now on. */
  reset(): void;
  /** Expects no progress until the next `reset()`. */
  stop(): void;
}

export function createStallWatchdog(
  clock: Clock,
  limitMs: number,
  onStall: () => void,
): StallWatchdog {
  let cancel: (() => void) | undefined;

  function reset(): void {
    cancel?.();
    const startMs = clock.monotonic();
    cancel = clock.after(limitMs, () => {
      // A timer that fires far too late means that the device or the page slept, not that the ad stalled.
      if (clock.monotonic() - startMs > limitMs * 2) reset();
      else onStall();
    });
  }

  return {
    reset,
    stop() {
      cancel?.();
      cancel = undefined;
    },
  };
}
