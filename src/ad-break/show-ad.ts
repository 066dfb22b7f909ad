import { type OverlayStrings, stringsFor } from '../creative/strings.ts';
import type { ReadyAd } from '../decision/decisions.ts';
import type { ShowResult } from '../outcome.ts';
import {
  begin,
  type BreakEffect,
  type BreakEvent,
  type BreakState,
  transition,
} from './machine.ts';
import type { BreakRequest, ShowAd, ShowParts } from './run-ad-break.ts';
import { createSession } from './session.ts';

/** Makes the function that shows ads, with the texts of a language and what the game says instead. */
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
