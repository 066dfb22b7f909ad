import type { OverlayStrings } from '../creative/strings.ts';
import type { ReadyAd } from '../decision/request-ad.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import { callGuarded, reportUncaught } from '../platform/guard.ts';
import { listen, native } from '../platform/native.ts';
import type { Rewards } from '../reward/rewards.ts';
import { holdInput } from './hold-input.ts';
import {
  begin,
  type BreakEffect,
  type BreakEvent,
  type BreakKind,
  type BreakState,
  transition,
} from './machine.ts';
import { openStage, type Stage } from './stage.ts';

/** How to show an ad. */
export interface ShowRequest {
  kind: BreakKind;
  /** Whether the ad starts without sound. */
  muted?: boolean | undefined;
  /** Called when the player has turned the sound off or on. */
  onSoundChosen?: (muted: boolean) => void;
  /** Aborting this signal, at any time, ends the ad break with the outcome `aborted`. */
  signal?: AbortSignal;
  /** Called when the game is paused and the ad is about to cover it. */
  onOpen?: () => void;
  /** Called when the ad's first frame is on the screen. */
  onStart?: () => void;
  /** Called when the ad has closed and the game has resumed. */
  onClose?: () => void;
}

export interface MachineDeps {
  clock: Clock;
  strings: OverlayStrings;
  enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
  rewards: Pick<Rewards, 'track' | 'setWatched' | 'confirmation'>;
  engine: EngineDriver;
  /** How long to wait for a reward's confirmation, in milliseconds. */
  confirmationTimeoutMs: number;
}

/** Shows a loaded ad. Resolves with the result once the game has resumed and the reward's state is known. */
export function runMachine(
  deps: MachineDeps,
  request: ShowRequest,
  ad: ReadyAd,
): Promise<ShowResult> {
  if (!request.signal?.aborted)
    return new Promise((resolve) => startMachine(deps, request, ad, resolve));
  ad.creative.destroy();
  return Promise.resolve({ outcome: 'aborted', decisionId: ad.decision.id });
}

/**
 * Starts the state machine and executes its effects on the game, the screen and storage, until it settles. A completed
 * ad stays completed: if it fails later, its reward is confirmed as usual; if it is aborted later, the result is
 * `pending` and the reward follows as an event.
 */
function startMachine(
  deps: MachineDeps,
  request: ShowRequest,
  ad: ReadyAd,
  settle: (result: ShowResult) => void,
): void {
  const { clock, confirmationTimeoutMs, engine, rewards } = deps;
  const { creative, decision, player } = ad;
  const { kind, signal } = request;
  const isRewarded = kind === 'rewarded';
  const neededMs = (isRewarded ? decision.min_watch_ms : undefined) ?? creative.durationMs;
  let state: BreakState;
  let stage: Stage | undefined;
  let releaseGame: (() => void) | undefined;
  let releaseInput: (() => void) | undefined;
  let released = false;
  let cancelWait: (() => void) | undefined;
  let stopAbort: (() => void) | undefined;
  /** Resolves when the decision has been stored on the device, so that its reward can be tracked. */
  let tracking: Promise<unknown> | undefined;
  /** Resolves when every event so far has been stored or dropped. */
  let storing: Promise<unknown> | undefined;
  let completed = false;

  function dispatch(event: BreakEvent): void {
    const step = transition(state, event);
    state = step.state;
    step.effects.forEach(perform);
  }

  function perform(effect: BreakEffect): void {
    switch (effect.type) {
      case 'open':
        return open();
      case 'release':
        return release();
      case 'report':
        report(effect);
        return effect.event === 'start' ? callGuarded(request.onStart) : undefined;
      case 'watched':
        storing = storing?.then(() => rewards.setWatched(decision.id)).catch(reportUncaught);
        return stage?.setWatched();
      case 'setClosePrompt':
        return stage?.setClosePrompt(effect.open);
      case 'confirm':
        return confirm();
      case 'settle':
        return finish(effect.result);
      case 'pause':
      case 'resume':
      case 'allowClose':
      case 'showEndCard':
        return stage?.[effect.type]();
    }
  }

  function open(): void {
    // Deferred to a microtask, so that the game is paused first.
    storing = tracking = Promise.resolve()
      .then(() => rewards.track(decision, player))
      .catch(reportUncaught);
    try {
      releaseGame = engine.hold();
      callGuarded(request.onOpen);
      // If the `onOpen` callback ended the ad break, an ad opened now would never close.
      if (released) return;
      const { muted, onSoundChosen } = request;
      const game = engine.focusTarget();
      stage = openStage(ad, { ...deps, game, neededMs, muted, onSoundChosen, dispatch });
      releaseInput = holdInput(stage.element, game, stage.gate);
      stage.start();
    } catch (error) {
      dispatch({ type: 'failed', reason: 'open_failed', detail: String(error) });
    }
  }

  function release(): void {
    released = true;
    // Each step is guarded separately. The game must resume even if a step fails.
    callGuarded(() => stage?.close());
    callGuarded(() => creative.destroy());
    callGuarded(releaseGame);
    callGuarded(releaseInput);
    callGuarded(request.onClose);
    stage = undefined;
  }

  /**
   * Enqueues an event, keeping events in order. The completion event waits until the reward is stored on the device,
   * because the service may confirm the reward as soon as it receives that event.
   */
  function report(effect: Extract<BreakEffect, { type: 'report' }>): void {
    const { detail, event, visible, watchedMs } = effect;
    if (!tracking) return;
    completed ||= event === 'complete';
    const enqueued = deps.enqueue(
      {
        type: event,
        decision_id: decision.id,
        token: decision.token,
        ...(watchedMs === undefined ? {} : { watched_ms: watchedMs }),
        ...(visible === undefined ? {} : { visible }),
        ...(detail === undefined ? {} : { detail }),
      },
      // Later events wait too, because they must not be stored before the completion.
      completed ? tracking : undefined,
    );
    storing = Promise.all([storing, enqueued.catch(reportUncaught)]);
  }

  function confirm(): void {
    // If storage hangs, the game must not be kept waiting.
    cancelWait = clock.after(confirmationTimeoutMs + 500, reportPending);
    Promise.resolve(storing)
      .then(() => rewards.confirmation(decision.id, confirmationTimeoutMs))
      .then((rewardReport) => dispatch({ type: 'confirmed', report: rewardReport }), reportPending);
  }

  function reportPending(): void {
    dispatch({ type: 'confirmed', report: { decisionId: decision.id, state: 'pending' } });
  }

  /**
   * Resolves the call's promise. Adds the decision id and any pending reward to the result, because the state machine
   * doesn't have them.
   */
  function finish(result: ShowResult): void {
    cancelWait?.();
    stopAbort?.();
    const { reward } = decision;
    const decisionId = decision.id;
    if (result.outcome === 'pending' && reward) settle({ reward, ...result, decisionId });
    else settle({ ...result, decisionId });
  }

  const abort = () => dispatch({ type: 'aborted' });
  if (signal) stopAbort = listen(signal, 'abort', abort);
  const firstTransition = begin({
    kind,
    minWatchMs: isRewarded ? neededMs : Infinity,
    endCard: decision.creative.click_url !== undefined,
    hidden: native.isHidden(),
  });
  state = firstTransition.state;
  firstTransition.effects.forEach(perform);
}
