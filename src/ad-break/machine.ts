import type { AdEvent } from '../../protocol/wire.ts';
import type { Reason, RewardReport, ShowResult } from '../outcome.ts';
import { toRewardResult } from './reward-result.ts';

export type BreakKind = 'rewarded' | 'interstitial';

/** The machine's state while an ad is on the screen. */
export interface ShowingState {
  phase: 'showing';
  kind: BreakKind;
  /**
   * How long the ad must be watched to earn its reward, in milliseconds. `Infinity` if it must be watched to the end.
   */
  minWatchMs: number;
  /** Whether an end card follows. */
  endCard: boolean;
  started: boolean;
  impressed: boolean;
  clicked: boolean;
  completed: boolean;
  closable: boolean;
  /** Whether the page is hidden. */
  hidden: boolean;
  /** Whether a prompt is asking the player to confirm closing the ad and losing the reward. */
  prompting: boolean;
  /** Number of quartiles reported so far. */
  quartiles: number;
  watchedMs: number;
  /** The creative's duration, in milliseconds. Zero until it is known. */
  durationMs: number;
}

/** The state of one ad break, from opening the ad to the result. */
export type BreakState =
  | ShowingState
  | (Omit<ShowingState, 'phase'> & { phase: 'endCard' })
  | { phase: 'confirming' }
  | { phase: 'done' };

/** The machine's inputs, including failures. */
export type BreakEvent =
  | { type: 'painted' }
  | { type: 'progress'; watchedMs: number; durationMs: number }
  | { type: 'ended' }
  | { type: 'viewed'; ratio: number; ms: number }
  | { type: 'clicked' }
  | { type: 'closeAllowed' }
  /** The player pressed the close button or the Escape key, or the creative asked to be closed. */
  | { type: 'closeRequested' }
  | { type: 'closeConfirmed' }
  | { type: 'closeCanceled' }
  | { type: 'endCardOver' }
  | { type: 'hidden' }
  | { type: 'visible' }
  | { type: 'stalled' }
  | { type: 'failed'; reason: Reason; detail?: string }
  | { type: 'aborted' }
  | { type: 'confirmed'; report: RewardReport };

export type BreakEffect =
  /** Pause the game and show the ad over it. */
  | { type: 'open' }
  | {
      type: 'report';
      event: AdEvent['type'];
      watchedMs?: number;
      visible?: { ratio: number; ms: number };
      detail?: string;
    }
  /** The reward is due, as far as this device can tell. */
  | { type: 'watched' }
  | { type: 'pause' }
  | { type: 'resume' }
  | { type: 'allowClose' }
  | { type: 'setClosePrompt'; open: boolean }
  | { type: 'showEndCard' }
  /** Close the ad and resume the game. */
  | { type: 'release' }
  /** Wait for the service to confirm the reward. */
  | { type: 'confirm' }
  | { type: 'settle'; result: ShowResult };

export interface Transition {
  state: BreakState;
  effects: BreakEffect[];
}

type OnScreenState = Extract<BreakState, { phase: 'showing' | 'endCard' }>;

const quartileEvents = ['first_quartile', 'midpoint', 'third_quartile'] as const;

/** Returns an ad break's initial transition. */
export function begin(
  ad: Pick<ShowingState, 'kind' | 'minWatchMs' | 'endCard' | 'hidden'>,
): Transition {
  const state: ShowingState = {
    ...ad,
    phase: 'showing',
    started: false,
    impressed: false,
    clicked: false,
    completed: false,
    closable: false,
    prompting: false,
    quartiles: 0,
    watchedMs: 0,
    durationMs: 0,
  };
  return transitionTo(state, { type: 'open' }, ...(ad.hidden ? [{ type: 'pause' } as const] : []));
}

/** Computes the transition for an event. This function is pure: it returns side effects as data. */
export function transition(state: BreakState, event: BreakEvent): Transition {
  switch (state.phase) {
    case 'showing':
    case 'endCard':
      return transitionOnScreen(state, event);
    case 'confirming':
      return transitionConfirming(state, event);
    case 'done':
      return transitionTo(state);
  }
}

const transitionTo = (state: BreakState, ...effects: BreakEffect[]): Transition => ({
  state,
  effects,
});

function settle(result: ShowResult, ...precedingEffects: BreakEffect[]): Transition {
  return { state: { phase: 'done' }, effects: precedingEffects.concat({ type: 'settle', result }) };
}

function transitionOnScreen(state: OnScreenState, event: BreakEvent): Transition {
  switch (event.type) {
    case 'painted':
      if (state.started) return transitionTo(state);
      return transitionTo({ ...state, started: true }, { type: 'report', event: 'start' });
    case 'progress':
      return state.phase === 'showing' ? transitionPlaying(state, event) : transitionTo(state);
    case 'ended':
      return state.phase === 'showing' ? endPlayback(state) : transitionTo(state);
    case 'viewed': {
      if (state.impressed) return transitionTo(state);
      const visible = { ratio: event.ratio, ms: event.ms };
      return transitionTo(
        { ...state, impressed: true },
        { type: 'report', event: 'impression', visible },
      );
    }
    case 'clicked':
      if (state.clicked) return transitionTo(state);
      return transitionTo({ ...state, clicked: true }, { type: 'report', event: 'click' });
    case 'hidden':
    case 'visible':
      return changeVisibility(state, event.type === 'hidden');
    case 'stalled':
      return failAd(state, { outcome: 'stalled' }, 'stalled');
    case 'failed':
      return failAd(state, failureResult(event), event.detail ?? event.reason);
    case 'aborted':
      return closeAd(state, { outcome: 'aborted' }, 'now');
    default:
      return transitionClosing(state, event);
  }
}

function transitionClosing(state: OnScreenState, event: BreakEvent): Transition {
  switch (event.type) {
    case 'closeAllowed':
      if (state.closable) return transitionTo(state);
      return transitionTo({ ...state, closable: true }, { type: 'allowClose' });
    case 'closeRequested':
      if (state.phase === 'endCard' || state.completed) return closeAd(state);
      if (!state.closable || state.prompting) return transitionTo(state);
      if (state.kind === 'interstitial') return closeEarly(state);
      return transitionTo(
        { ...state, prompting: true },
        { type: 'pause' },
        { type: 'setClosePrompt', open: true },
      );
    case 'closeConfirmed':
      return state.prompting ? closeEarly(state) : transitionTo(state);
    case 'closeCanceled':
      if (!state.prompting) return transitionTo(state);
      return transitionTo(
        { ...state, prompting: false },
        { type: 'setClosePrompt', open: false },
        ...(state.hidden ? [] : [{ type: 'resume' } as const]),
      );
    case 'endCardOver':
      return state.phase === 'endCard' ? closeAd(state) : transitionTo(state);
    default:
      return transitionTo(state);
  }
}

function transitionPlaying(
  state: ShowingState,
  { watchedMs, durationMs }: { watchedMs: number; durationMs: number },
): Transition {
  const reachedQuartiles =
    durationMs > 0 ? Math.min(3, Math.floor((watchedMs / durationMs) * 4)) : 0;
  const effects: BreakEffect[] = quartileEvents
    .slice(state.quartiles, reachedQuartiles)
    .map((event) => ({ type: 'report', event, watchedMs }));
  const quartiles = Math.max(state.quartiles, reachedQuartiles);
  const next = { ...state, watchedMs, durationMs, quartiles };
  if (next.completed || watchedMs < state.minWatchMs) return transitionTo(next, ...effects);
  const completion = complete(next);
  effects.push(...completion.effects);
  // Completing the ad closed the prompt, so playback continues.
  if (state.prompting && !state.hidden) effects.push({ type: 'resume' });
  return transitionTo(completion.state, ...effects);
}

/** Marks the ad as completed. The first effect reports the completion, so that it is reported before the ad closes. */
function complete<State extends OnScreenState>(
  state: State,
): { state: State; effects: BreakEffect[] } {
  if (state.completed) return { state, effects: [] };
  const effects: BreakEffect[] = [
    { type: 'report', event: 'complete', watchedMs: state.watchedMs },
  ];
  if (state.kind === 'rewarded') effects.push({ type: 'watched' });
  if (state.prompting) effects.push({ type: 'setClosePrompt', open: false });
  if (!state.closable) effects.push({ type: 'allowClose' });
  return { state: { ...state, completed: true, closable: true, prompting: false }, effects };
}

/**
 * Fraction of its time for which an ad must have been watched when it ends. For rewards, the service requires the same
 * (`service/src/reward/watch-time.ts`).
 */
const watchedShare = 0.95;

function endPlayback(state: ShowingState): Transition {
  // The file was shorter than declared, its data was cut off, or its position was moved.
  const neededMs = state.kind === 'rewarded' ? state.minWatchMs : state.durationMs;
  if (!state.completed && state.watchedMs < neededMs * watchedShare)
    return failAd(state, { outcome: 'error', reason: 'ended_early' }, 'ended_early');
  const completion = complete(state);
  if (state.endCard) {
    return transitionTo({ ...completion.state, phase: 'endCard' }, ...completion.effects, {
      type: 'showEndCard',
    });
  }
  const closing = closeAd(completion.state);
  return transitionTo(closing.state, ...completion.effects, ...closing.effects);
}

function changeVisibility(state: OnScreenState, hidden: boolean): Transition {
  if (state.hidden === hidden) return transitionTo(state);
  const next = { ...state, hidden };
  if (hidden) return transitionTo(next, { type: 'pause' });
  // Showing the prompt again restarts its timeout, which was canceled when the page was hidden.
  return transitionTo(
    next,
    state.prompting ? { type: 'setClosePrompt', open: true } : { type: 'resume' },
  );
}

function closeEarly(state: OnScreenState): Transition {
  const result: ShowResult = {
    outcome: state.kind === 'interstitial' ? 'completed' : 'dismissed',
  };
  return closeAd(state, result, undefined, {
    type: 'report',
    event: 'skip',
    watchedMs: state.watchedMs,
  });
}

function failAd(state: OnScreenState, result: ShowResult, detail: string): Transition {
  return closeAd(state, result, undefined, { type: 'report', event: 'error', detail });
}

/**
 * Closes the ad. `incompleteResult` is used only if the ad was not completed. With `'now'`, a completed rewarded ad
 * settles as `pending`, without waiting for the reward's confirmation.
 */
function closeAd(
  state: OnScreenState,
  incompleteResult: ShowResult = { outcome: 'completed' },
  when?: 'now',
  ...precedingEffects: BreakEffect[]
): Transition {
  const effects = precedingEffects.concat(
    { type: 'report', event: 'close', watchedMs: state.watchedMs },
    { type: 'release' },
  );
  if (!state.completed) return settle(incompleteResult, ...effects);
  if (state.kind === 'interstitial') return settle({ outcome: 'completed' }, ...effects);
  if (when === 'now') return settle({ outcome: 'pending' }, ...effects);
  return transitionTo({ phase: 'confirming' }, ...effects, { type: 'confirm' });
}

function transitionConfirming(state: BreakState, event: BreakEvent): Transition {
  if (event.type === 'aborted') return settle({ outcome: 'pending' });
  return event.type === 'confirmed' ? settle(toRewardResult(event.report)) : transitionTo(state);
}

function failureResult({ reason, detail }: Extract<BreakEvent, { type: 'failed' }>): ShowResult {
  return { outcome: 'error', reason, ...(detail !== undefined && { detail }) };
}
