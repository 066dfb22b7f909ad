import { openOverlay, type Overlay } from '../creative/overlay.ts';
import type { RendererEvent } from '../creative/renderer.ts';
import type { OverlayStrings } from '../creative/strings.ts';
import { watchViewability } from '../creative/viewability.ts';
import type { ReadyAd } from '../decision/decisions.ts';
import type { Clock } from '../platform/clock.ts';
import type { BreakEvent } from './machine.ts';

/** How long a playing ad may make no progress, in milliseconds. */
const stallMs = 8_000;
/** When the close button appears if the decision does not specify it, in milliseconds. */
const defaultCloseAfterMs = 5_000;
/** When an end card closes by itself, in milliseconds, so that every ad break ends. */
const endCardMs = 10_000;
/** If the advertiser's page has not taken the focus by then, it was opened in the background; in milliseconds. */
const leaveMs = 1_000;
/** How long after expiry the service still accepts the impression of an ad that began in time, in milliseconds. */
const seenGraceMs = 60_000;
/** How long a prompt (play, confirm closing) stays open, in milliseconds. */
const answerMs = 20_000;

/** The ad on the screen and its watchdogs. */
export interface Stage {
  /** The root element of the ad. */
  readonly element: HTMLElement;
  /** Begins to play and to tell; apart from opening, so that a fault has a stage to close. */
  start(): void;
  pause(): void;
  resume(): void;
  allowClose(): void;
  askClose(asking: boolean): void;
  setWatched(): void;
  showEndCard(): void;
  /** Takes all of it out of the page. */
  close(): void;
}

/** Shows an ad over the page, and dispatches what happens to it. */
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
  const { alt, click_url: clickUrl, media } = decision.creative;
  const video = media.format === 'video';
  let muted = false;
  let ended = false;
  let paused = false;
  let asked = false;
  /** How long the ad may continue after its expiry, in milliseconds. */
  let graceMs = 0;
  let cancelWait: (() => void) | undefined;
  let cancelLeave: (() => void) | undefined;

  /**
   * An ad that expires before it was viewable, because the device slept or the page was hidden for a long time,
   * can no longer earn a reward. It ends here, so that the player does not watch it for nothing.
   */
  function dispatchUnlessExpired(event: BreakEvent): void {
    dispatch(expiry.leftMs() > -graceMs ? event : { type: 'failed', reason: 'expired' });
  }

  const overlay: Overlay = openOverlay(
    { element: creative.element, strings, alt, clickUrl, reward: decision.reward },
    {
      closeRequested: () => dispatch({ type: 'closeRequested' }),
      closeConfirmed: () => dispatch({ type: 'closeConfirmed' }),
      closeCancelled: () => dispatch({ type: 'closeCancelled' }),
      clicked() {
        dispatch({ type: 'clicked' });
        // A new window need not hide this page, but the player is there and not here.
        dispatch({ type: 'hidden' });
        cancelLeave?.();
        cancelLeave = clock.after(leaveMs, () => document.hasFocus() && onVisibility());
      },
      muteToggled: () => creative.setMuted(!muted),
      tapped() {
        cancelWait?.();
        overlay.askTap(false);
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
  // Inside the frame of a portal the focus may come back to the portal: then this says who is here.
  window.addEventListener('pointerdown', onVisibility, true);

  /** Nothing that needs the player waits for ever. */
  function waitAtMost(ms: number, event: BreakEvent): void {
    cancelWait?.();
    cancelWait = clock.after(ms, () => dispatch(event));
  }

  function moved(): void {
    // A pause does not stop what is on its way.
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
          moved();
        }
        overlay.progress(event.watchedMs, neededMs);
        dispatchUnlessExpired(event);
        break;
      case 'painted':
        moved();
        dispatchUnlessExpired(event);
        graceMs ||= seenGraceMs;
        break;
      case 'clicked':
        // Its link tells of the click.
        overlay.openPage();
        break;
      case 'muted':
        muted = event.muted;
        overlay.setMuted(muted);
        break;
      case 'tapNeeded':
        watchdog.stop();
        overlay.askTap(true);
        waitAtMost(answerMs, { type: 'stalled' });
        break;
      case 'closeRequested':
        // Asked over and over by the creative, the question would keep the ad from its end.
        if (!asked) dispatchUnlessExpired(event);
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
      // Before playback starts, so that no sound is audible at all.
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
    askClose(asking) {
      cancelWait?.();
      asked ||= asking;
      overlay.askClose(asking);
      if (asking) waitAtMost(answerMs, { type: 'closeCancelled' });
    },
    setWatched() {
      asked = false;
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
      cancelLeave?.();
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
  /** Restarts the timeout, because the ad made progress or may do so from now on. */
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
    const since = clock.monotonic();
    cancel = clock.after(limitMs, () => {
      // Far too late a timer means that the device or the page slept, not that the ad stood still.
      if (clock.monotonic() - since > limitMs * 2) reset();
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
