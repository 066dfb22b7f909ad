import type { OverlayStrings } from '../creative/strings.ts';
import type { ReadyAd } from '../decision/decisions.ts';
import type { RewardReport, ShowResult } from '../outcome.ts';
import { guarded } from '../platform/guard.ts';
import { holdInput } from './hold-input.ts';
import type { BreakEffect, BreakEvent, Showing } from './machine.ts';
import { createReporter, type Reporter } from './reporter.ts';
import type { BreakRequest, ShowParts } from './run-ad-break.ts';
import { openStage, type Stage } from './stage.ts';

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
