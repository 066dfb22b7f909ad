import { openOverlay, type Overlay } from '../creative/overlay.ts';
import type { Playback, RendererEvent } from '../creative/renderer.ts';
import type { OverlayStrings } from '../creative/strings.ts';
import { watchViewability } from '../creative/viewability.ts';
import type { ReadyAd } from '../decision/request-ad.ts';
import type { Clock } from '../platform/clock.ts';
import { onInput, onVisibilityChange } from '../platform/front-door.ts';
import { listen, native } from '../platform/native.ts';
import { awaitGamepad, awaitTurn } from './followers.ts';
import { createInputGate, type InputGate } from './input-gate.ts';
import type { BreakEvent } from './machine.ts';

/** How long a playing ad may go without progress, in milliseconds. */
const stallMs = 8_000;
/** Delay before the close button appears, in milliseconds, if the decision does not specify one. */
const fallbackCloseAfterMs = 5_000;
/** How long an end card stays open, in milliseconds. The limit ensures that every ad break ends. */
const endCardMs = 10_000;
/**
 * How long to wait for a newly opened page to take focus, in milliseconds. A page that has not taken focus by then was
 * opened in the background.
 */
const focusLossMs = 1_000;
/**
 * Grace period after an ad expires, in milliseconds. If the ad started before it expired, the service accepts its
 * impression until the end of this period.
 */
const impressionGraceMs = 60_000;
/** How long a completed ad waits for its impression, in milliseconds. */
const impressionWaitMs = 2_000;
/** How long a prompt (tap to play, confirm closing) stays open, in milliseconds. */
const promptTimeoutMs = 20_000;

/** The ad on the screen, with its timers and watchdog. */
export interface Stage {
  /** The root element of the ad. */
  readonly element: HTMLElement;
  /** Decides which presses count. */
  readonly gate: InputGate;
  /**
   * Starts playback and event reporting. `openStage()` does not do this, so that the caller can close a stage that
   * fails to start.
   */
  start(): void;
  pause(): void;
  resume(): void;
  allowClose(): void;
  setClosePrompt(open: boolean): void;
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
    /** The game's canvas or container. */
    game: Element | null;
    neededMs: number;
    muted: boolean | undefined;
    onSoundChosen: ((muted: boolean) => void) | undefined;
    dispatch(event: BreakEvent): void;
  },
): Stage {
  const { clock, dispatch, neededMs, strings } = options;
  const { skip_after_ms: skipAfterMs = Infinity } = decision.creative;
  const isVideo = decision.creative.media.format === 'video';
  let muted = false;
  let ended = false;
  let paused = false;
  let prompted = false;
  let playback: Playback = 'held';
  /** Whether the player may be looking at another page. */
  let away = false;
  /** How long the ad may continue after it expires, in milliseconds. */
  let graceMs = 0;
  let cancelTimeout: (() => void) | undefined;
  let cancelTapTimeout: (() => void) | undefined;
  let cancelFocusCheck: (() => void) | undefined;

  /**
   * Dispatches the event. If the ad expired before it became viewable, ends the ad instead, because it can no longer
   * earn a reward. This happens if the device sleeps or the page is hidden for a long time.
   */
  function dispatchUnlessExpired(event: BreakEvent): void {
    dispatch(expiry.leftMs() > -graceMs ? event : { type: 'failed', reason: 'expired' });
  }

  /** Ends an ad that nobody can see. It must not count as watched. */
  function failUnseen(cause: string): void {
    const detail = `The ad is not visible: ${cause}.`;
    dispatch({ type: 'failed', reason: 'not_visible', detail });
  }

  /** Pauses the ad while the player is in a newly opened window. This page may remain visible next to that window. */
  function onPageOpened(): void {
    away = true;
    gate.rest();
    dispatch({ type: 'hidden' });
    cancelFocusCheck?.();
    cancelFocusCheck = clock.after(focusLossMs, () => document.hasFocus() && dispatchVisibility());
  }

  const gate = createInputGate(clock);
  const { element } = creative;
  const overlay: Overlay = openOverlay(
    { element, creative: decision.creative, strings, reward: decision.reward },
    {
      closeRequested: () => dispatch({ type: 'closeRequested' }),
      closeConfirmed: () => dispatch({ type: 'closeConfirmed' }),
      closeCanceled: () => dispatch({ type: 'closeCanceled' }),
      clicked() {
        dispatch({ type: 'clicked' });
        onPageOpened();
      },
      pageOpened: onPageOpened,
      muteToggled() {
        options.onSoundChosen?.(!muted);
        creative.setMuted(!muted);
      },
      tapped: () => resume(),
      removed: () => failUnseen('the page removes it'),
    },
  );
  const watchdog = createStallWatchdog(clock, stallMs, () => dispatch({ type: 'stalled' }));
  const viewability = watchViewability(creative.element, {
    clock,
    isVideo,
    onViewable(visibility) {
      isViewed = true;
      dispatchUnlessExpired({ type: 'viewed', ...visibility });
      graceMs = Infinity;
      releaseEnd();
    },
    onUnseen: failUnseen,
  });
  viewability.setPlaying(false);
  const cancelCloseTimer = clock.after(decision.close_after_ms ?? fallbackCloseAfterMs, () =>
    dispatch({ type: 'closeAllowed' }),
  );
  function dispatchVisibility(): void {
    if (native.isHidden()) {
      away = true;
      return dispatch({ type: 'hidden' });
    }
    if (away) gate.rest();
    away = false;
    dispatchUnlessExpired({ type: 'visible' });
  }
  const stops = [
    onVisibilityChange(dispatchVisibility),
    listen(window, 'focus', dispatchVisibility),
    // In a game portal's iframe, focus may return to the portal instead of this page. In that case, a pointer press
    // shows that the player is back.
    onInput(({ type }) => type === 'pointerdown' && dispatchVisibility()),
    awaitGamepad(overlay.element.shadowRoot as ShadowRoot, gate, clock),
    awaitTurn(overlay.element, options.game, clock),
    gate.destroy,
  ];

  /** Dispatches `event` if the player does nothing for `ms` milliseconds. */
  function dispatchAfter(ms: number, event: BreakEvent): void {
    cancelTimeout?.();
    cancelTimeout = clock.after(ms, () => dispatch(event));
  }

  /** Everything that depends on whether the media plays follows from this state. */
  function setPlayback(state: Playback): void {
    playback = state;
    cancelTapTimeout?.();
    overlay.setTapPrompt(state === 'blocked');
    viewability.setPlaying(state === 'playing');
    if (state === 'playing' || state === 'waiting') return watchdog.reset();
    watchdog.stop();
    if (state === 'blocked')
      cancelTapTimeout = clock.after(promptTimeoutMs, () => dispatch({ type: 'stalled' }));
  }

  function onProgress(): void {
    // Progress events may arrive after a pause.
    if (paused || playback === 'blocked') return;
    // Only videos report what they are doing.
    if (playback === 'held') setPlayback('playing');
    else watchdog.reset();
  }

  /** Whether the ad's impression has been measured. */
  let isViewed = false;
  /** What completes the ad, but came before its impression. */
  let heldEnd: RendererEvent[] = [];
  let cancelRelease: (() => void) | undefined;

  function releaseEnd(): void {
    cancelRelease?.();
    const events = heldEnd;
    heldEnd = [];
    for (const event of events) handleRendererEvent(event);
  }

  function onRendererEvent(event: RendererEvent): void {
    const completes =
      event.type === 'ended' || (event.type === 'progress' && event.watchedMs >= neededMs);
    const unseenCause = completes ? viewability.unseenCause() : undefined;
    if (unseenCause !== undefined) return failUnseen(unseenCause);
    if (!completes || isViewed) return handleRendererEvent(event);
    // Without its impression, a completion earns nothing. A picture that is due after a second is measured as long.
    if (heldEnd.length === 0) cancelRelease = clock.after(impressionWaitMs, releaseEnd);
    heldEnd.push(event);
    // A video that has ended is not measured any more.
    if (isVideo && event.type === 'ended') releaseEnd();
  }

  let watchedMs = -1;
  function handleRendererEvent(event: RendererEvent): void {
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
      case 'playback':
        setPlayback(event.state);
        break;
      case 'closeRequested':
        // Prompts only once. Otherwise, a creative that keeps asking to be closed would block the ad.
        if (!prompted) dispatchUnlessExpired(event);
        break;
      default:
        dispatchUnlessExpired(event);
    }
  }

  function resume(): void {
    paused = false;
    if (ended) return dispatchAfter(endCardMs, { type: 'endCardOver' });
    watchdog.reset();
    creative.resume();
  }

  overlay.progress(0, neededMs);

  return {
    element: overlay.element,
    gate,
    start() {
      watchdog.reset();
      // Mutes the ad before playback starts, so that no sound is audible at the start.
      if (options.muted) creative.setMuted(true);
      creative.start(onRendererEvent);
    },
    pause() {
      paused = true;
      cancelTimeout?.();
      setPlayback('held');
      creative.pause();
    },
    resume,
    allowClose: overlay.allowClose,
    setClosePrompt(open) {
      cancelTimeout?.();
      prompted ||= open;
      overlay.setClosePrompt(open);
      if (open) dispatchAfter(promptTimeoutMs, { type: 'closeCanceled' });
    },
    setWatched() {
      prompted = false;
      overlay.setWatched();
    },
    showEndCard() {
      ended = true;
      cancelTimeout?.();
      setPlayback('held');
      creative.pause();
      overlay.showEndCard();
      if (!native.isHidden()) resume();
    },
    close() {
      for (const stop of stops) stop();
      cancelRelease?.();
      cancelFocusCheck?.();
      cancelCloseTimer();
      cancelTimeout?.();
      cancelTapTimeout?.();
      watchdog.stop();
      viewability.destroy();
      overlay.close();
    },
  };
}

/** Reports an ad that should be playing but has made no progress for too long. */
export interface StallWatchdog {
  /** Restarts the timeout. Call it when the ad has made progress or is about to play. */
  reset(): void;
  /** Stops the timeout until the next `reset()`. */
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
    const startedAtMs = clock.monotonic();
    cancel = clock.after(limitMs, () => {
      // If the timer fires far too late, the ad did not stall: the device was asleep or the page was suspended.
      if (clock.monotonic() - startedAtMs > limitMs * 2) reset();
      else onStall();
    });
  }

  return { reset, stop: () => cancel?.() };
}
