import { type OverlayStrings, stringsFor } from '../creative/strings.ts';
import type { ReadyAd } from '../decision/decisions.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { RewardReport, ShowResult } from '../outcome.ts';
import { guarded, surface } from '../platform/guard.ts';
import type { Rewards } from '../reward/rewards.ts';
import { holdInput } from './hold-input.ts';
import {
  begin,
  type BreakEffect,
  type BreakEvent,
  type BreakState,
  type Showing,
  transition,
} from './machine.ts';
import type { BreakRequest, ShowAd, ShowParts } from './run-ad-break.ts';
import { openStage, type Stage } from './stage.ts';

/** Creates the function that shows ads, with the texts of a language and what the game says instead. */
export async function createShowAd(
  locale: string,
  replaced: Partial<OverlayStrings> = {},
): Promise<ShowAd> {
  const strings = { ...(await stringsFor(locale)), ...replaced };
  return (parts, request, ad) => showAd({ ...parts, strings }, request, ad);
}

/**
 * Runs the machine. What was watched to its end stays watched: an abort or a fault after that answers
 * `pending`, and the reward comes as an event.
 */
function showAd(
  parts: ShowParts & { strings: OverlayStrings },
  request: BreakRequest,
  ad: ReadyAd,
): Promise<ShowResult> {
  const { signal } = request;
  if (signal?.aborted) {
    ad.creative.destroy();
    return Promise.resolve({ outcome: 'aborted', decisionId: ad.decision.id });
  }
  return new Promise((resolve) => {
    const session = createSession(parts, request, ad, dispatch);
    let state: BreakState;
    let cancelWait: (() => void) | undefined;

    function dispatch(event: BreakEvent): void {
      const step = transition(state, event);
      state = step.state;
      step.effects.forEach(perform);
    }

    function perform(effect: BreakEffect): void {
      if (effect.type === 'settle') {
        cancelWait?.();
        signal?.removeEventListener('abort', abort);
        resolve(session.complete(effect.result));
      } else if (effect.type === 'confirm') {
        // A storage that hangs must not hang the game.
        cancelWait = parts.clock.after(parts.confirmationTimeoutMs + 500, stillPending);
        session
          .confirm(parts.confirmationTimeoutMs)
          .then((report) => dispatch({ type: 'confirmed', report }), stillPending);
      } else {
        session.perform(effect);
      }
    }

    const stillPending = () =>
      dispatch({ type: 'confirmed', report: { decisionId: ad.decision.id, state: 'pending' } });
    const abort = () => dispatch({ type: 'aborted' });
    signal?.addEventListener('abort', abort);
    const first = begin(session.facts);
    state = first.state;
    first.effects.forEach(perform);
  });
}

/** One ad in one break: does what the machine says with the game, the screen and the storage. */
export interface Session {
  /** What the machine has to know of the ad. */
  readonly facts: Pick<Showing, 'kind' | 'minWatchMs' | 'endCard' | 'hidden'>;
  perform(effect: Exclude<BreakEffect, { type: 'confirm' | 'settle' }>): void;
  confirm(withinMs: number): Promise<RewardReport>;
  /** Adds what the machine does not carry along: the decision, and a reward that is awaited. */
  complete(result: ShowResult): ShowResult;
}

export function createSession(
  parts: ShowParts & { strings: OverlayStrings },
  request: BreakRequest,
  ad: ReadyAd,
  dispatch: (event: BreakEvent) => void,
): Session {
  const { creative, decision } = ad;
  const rewarded = request.kind === 'rewarded';
  const neededMs = (rewarded ? decision.min_watch_ms : undefined) ?? creative.durationMs;
  let stage: Stage | undefined;
  let reporter: Reporter | undefined;
  let releaseGame: (() => void) | undefined;
  let releaseInput: (() => void) | undefined;
  let released = false;

  function open(): void {
    reporter = createReporter(parts, ad);
    try {
      releaseGame = parts.engine.hold();
      guarded(request.onOpen);
      // The game may have ended the break just now; an ad put up after that would stay for ever.
      if (released) return;
      stage = openStage(ad, { ...parts, neededMs, muted: request.muted, dispatch });
      releaseInput = holdInput(stage.element, parts.engine.focusTarget());
      stage.start();
    } catch (error) {
      dispatch({ type: 'failed', reason: 'open_failed', detail: String(error) });
    }
  }

  function release(): void {
    released = true;
    // Each on its own: whatever fails, the game must go on.
    guarded(() => stage?.close());
    guarded(() => creative.destroy());
    guarded(releaseGame);
    guarded(releaseInput);
    guarded(request.onClose);
    stage = undefined;
  }

  return {
    facts: {
      kind: request.kind,
      minWatchMs: rewarded ? neededMs : Infinity,
      endCard: decision.creative.click_url !== undefined,
      hidden: document.hidden,
    },
    perform(effect) {
      switch (effect.type) {
        case 'open':
          return open();
        case 'release':
          return release();
        case 'report':
          reporter?.report(effect);
          return effect.event === 'start' ? guarded(request.onStart) : undefined;
        case 'watched':
          reporter?.watched();
          return stage?.setWatched();
        case 'askClose':
          return stage?.askClose(effect.asking);
        case 'pause':
        case 'resume':
        case 'allowClose':
        case 'showEndCard':
          return stage?.[effect.type]();
      }
    },
    async confirm(withinMs) {
      await reporter?.stored();
      return parts.rewards.confirmation(decision.id, withinMs);
    },
    complete(result) {
      const { reward } = decision;
      const awaited = result.outcome === 'pending' && reward !== undefined;
      return {
        ...result,
        decisionId: decision.id,
        ...(awaited && result.reward === undefined ? { reward } : {}),
      };
    },
  };
}

export interface Reporter {
  report(event: Extract<BreakEffect, { type: 'report' }>): void;
  watched(): void;
  /** Resolves when every event reported so far is stored or was dropped. */
  stored(): Promise<unknown>;
}

/**
 * Enqueues the events of an ad at once and in order. Only the completion waits for storage: the reward must be
 * stored on the device before the service can confirm it.
 */
export function createReporter(
  parts: {
    enqueue(event: NewAdEvent, after?: Promise<unknown>): Promise<void>;
    rewards: Pick<Rewards, 'track' | 'watched'>;
  },
  { decision, player }: ReadyAd,
): Reporter {
  // In a microtask, so that the game is held first.
  const tracked = Promise.resolve()
    .then(() => parts.rewards.track(decision, player))
    .catch(surface);
  let stored: Promise<unknown> = tracked;
  let completed = false;
  return {
    report({ event, watchedMs, visible, detail }) {
      completed ||= event === 'complete';
      const enqueued = parts.enqueue(
        {
          type: event,
          decision_id: decision.id,
          token: decision.token,
          ...(watchedMs === undefined ? {} : { watched_ms: watchedMs }),
          ...(visible === undefined ? {} : { visible }),
          ...(detail === undefined ? {} : { detail }),
        },
        // What follows the completion must not overtake it.
        completed ? tracked : undefined,
      );
      stored = Promise.all([stored, enqueued.catch(surface)]);
    },
    watched() {
      stored = stored.then(() => parts.rewards.watched(decision.id)).catch(surface);
    },
    stored: () => stored,
  };
}
