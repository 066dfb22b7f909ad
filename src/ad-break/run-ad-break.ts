import type { OverlayStrings } from '../creative/strings.ts';
import type { NoAd, ReadyAd } from '../decision/decisions.ts';
import type { EngineDriver } from '../engine/engine-driver.ts';
import type { NewAdEvent } from '../outbox/outbox.ts';
import type { ShowResult } from '../outcome.ts';
import type { Clock } from '../platform/clock.ts';
import type { Rewards } from '../reward/rewards.ts';
import {
  initialState,
  transition,
  type BreakEffect,
  type BreakEvent,
  type BreakKind,
} from './machine.ts';
import { createSession, type Session } from './session.ts';

export type { BreakKind } from './machine.ts';

/** One call to show an ad. */
export interface BreakRequest {
  placement: string;
  kind: BreakKind;
  /** Ends the break with `aborted`, whatever it is at. */
  signal?: AbortSignal;
  /** The game is held, and the ad is about to cover it. */
  onOpen?: () => void;
  /** The first frame of the ad is on the screen. */
  onStart?: () => void;
  /** The ad is gone, and the game goes on. */
  onClose?: () => void;
}

export interface BreakParts {
  take(placement: string, signal: AbortSignal): Promise<ReadyAd | NoAd>;
  enqueue(event: NewAdEvent): Promise<void>;
  rewards: Pick<Rewards, 'track' | 'watched' | 'confirmation'>;
  engine: EngineDriver;
  clock: Clock;
  strings: OverlayStrings;
  /** How long the service's word on a reward is waited for. */
  confirmWithinMs: number;
  /** How long the request and the loading may take together. */
  loadTimeoutMs: number;
}

/**
 * Shows one ad, from the request to its only result. Never rejects. What was watched to its end stays
 * watched: an abort or a fault after that answers `pending`, and the reward comes as an event.
 */
export function runAdBreak(parts: BreakParts, request: BreakRequest): Promise<ShowResult> {
  return new Promise((resolve) => {
    const stopped = new AbortController();
    let state = initialState;
    let session: Session | undefined;
    const timers: (() => void)[] = [];

    function dispatch(event: BreakEvent): void {
      const { state: next, effects } = transition(state, event);
      state = next;
      for (const effect of effects) perform(effect);
    }

    function perform(effect: BreakEffect): void {
      if (effect.type === 'settle') {
        stopped.abort();
        for (const cancel of timers) cancel();
        request.signal?.removeEventListener('abort', abort);
        const { result } = effect;
        resolve(session === undefined ? result : session.complete(result));
      } else if (effect.type === 'confirm') {
        // A storage that hangs must not hang the game.
        timers.push(parts.clock.after(parts.confirmWithinMs + 500, () => confirmed('pending')));
        session?.confirm(parts.confirmWithinMs).then(
          (report) => dispatch({ type: 'confirmed', report }),
          () => confirmed('pending'),
        );
      } else {
        session?.perform(effect);
      }
    }

    const confirmed = (state: 'pending') =>
      dispatch({ type: 'confirmed', report: { decisionId: '', state } });

    const abort = () => dispatch({ type: 'aborted' });
    request.signal?.addEventListener('abort', abort);
    if (request.signal?.aborted) abort();
    else {
      timers.push(
        parts.clock.after(parts.loadTimeoutMs, () =>
          dispatch({ type: 'noAd', result: { outcome: 'timeout' } }),
        ),
      );
      parts.take(request.placement, stopped.signal).then(
        (answer) => {
          if ('creative' in answer && answer.decision.format === request.kind) {
            session = createSession(parts, request, answer, dispatch);
            dispatch(session.taken);
          } else dispatch({ type: 'noAd', result: refuse(answer) });
        },
        (error: unknown) => dispatch({ type: 'failed', reason: String(error) }),
      );
    }
  });
}

function refuse(answer: ReadyAd | NoAd): ShowResult {
  if (!('creative' in answer)) return answer;
  answer.creative.destroy();
  return { outcome: 'invalid_placement', reason: `format_is_${answer.decision.format}` };
}
