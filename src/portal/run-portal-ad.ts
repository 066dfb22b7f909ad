import type { BreakRequest } from '../ad-break/run-ad-break.ts';
import type { Outcome, ShowResult } from '../outcome.ts';
import { type Clock, linkSignals } from '../platform/clock.ts';
import { callGuarded, messageOf, toText } from '../platform/guard.ts';
import { listen } from '../platform/native.ts';
import type { PortalAdapter, PortalResult } from './adapter.ts';
import type { Hold } from './hold-game.ts';

/** How long the portal may take from the call to the start of its ad, in milliseconds. */
export const startLimitMs = 15_000;
/** How long an ad may take, in milliseconds. */
const endLimitMs = 300_000;

export interface PortalAdDeps {
  clock: Clock;
  hold: Hold;
  /** Ends when the ads are destroyed. Nothing holds the game from then on. */
  destroyed: AbortSignal;
  /** Resolves with the adapter when it is ready. Rejects with the result of the call if it isn't. */
  connect(): Promise<PortalAdapter>;
  /** The placement's name at the portal. */
  portalPlacement: string;
  /** The service's decision that the ad is shown for. */
  decisionId?: string;
  /** Marks the page as showing an ad. Returns a function that ends this, or undefined if another ad is shown. */
  occupy(): (() => void) | undefined;
  /**
   * Stores what the ad may earn, before it is shown. The returned function stores that it is earned, and resolves with
   * what to add to the result.
   */
  track(adapter: PortalAdapter): () => Promise<Partial<ShowResult>>;
  /** Called when the ad begins, also if nobody expects it anymore. */
  onShown(): void;
  /** Called when the ad has ended, before anything else. If it was earned, the result says so later. */
  onEnd?(result: ShowResult): void;
}

/** Rejects {@link PortalAdDeps.connect}. */
export class NotConnected extends Error {
  readonly result: ShowResult;

  constructor(result: ShowResult) {
    super(result.detail);
    this.result = result;
  }
}

/** The outcome for each of an adapter's results. */
const outcomes: Record<PortalResult, Outcome> = {
  completed: 'completed',
  dismissed: 'dismissed',
  no_fill: 'no_fill',
  capped: 'frequency_capped',
  blocked: 'ad_blocked',
  disabled: 'blocked',
  not_ready: 'not_ready',
  offline: 'offline',
  error: 'error',
};

/**
 * Shows one of the portal's ads. Holds the game from the call to the end of the ad, and gives it back in any case: a
 * portal that throws, answers twice, late or never confuses nobody. Never rejects.
 *
 * Once a call has ended by its time limit, two things may still happen. If the ad is shown after all, the game is held
 * again for as long. If it earns its reward after all, the reward follows as an event.
 */
export function runPortalAd(deps: PortalAdDeps, request: BreakRequest): Promise<ShowResult> {
  if (request.signal?.aborted) return Promise.resolve({ outcome: 'aborted' });
  return new Promise((resolve) => performCall(deps, request, resolve));
}

function performCall(
  deps: PortalAdDeps,
  { kind, onClose, onOpen, onStart, signal }: BreakRequest,
  settle: (result: ShowResult) => void,
): void {
  const { clock, connect, destroyed, hold, occupy, portalPlacement, track } = deps;
  const call = linkSignals(signal);
  let hasEnded = false;
  let hasStarted = false;
  let isAnswered = false;
  let earn: (() => Promise<Partial<ShowResult>>) | undefined;
  let earned: Promise<Partial<ShowResult>> | undefined;
  /** Ends the second hold, for an ad that began when nobody expected it anymore. */
  let releaseLate: (() => void) | undefined;

  const release = hold();
  const stopAbort = signal && listen(signal, 'abort', () => end({ outcome: 'aborted' }));
  let cancelTimer = clock.after(startLimitMs, () => {
    const detail = `The portal neither showed an ad nor answered within ${startLimitMs / 1_000} seconds.`;
    end({ outcome: 'timeout', reason: 'load_timeout', detail });
  });
  callGuarded(onOpen);

  function end(result: ShowResult): void {
    if (hasEnded) return;
    hasEnded = true;
    deps.onEnd?.(result);
    cancelTimer();
    stopAbort?.();
    release();
    callGuarded(onClose);
    call.abort();
    // What the player has earned is earned, however the ad ended.
    const ended = earned?.then((details) => ({ outcome: 'rewarded', ...details }) as ShowResult);
    void Promise.resolve(ended ?? result).then(settle);
  }

  function start(): void {
    if (isAnswered || hasStarted) return;
    hasStarted = true;
    callGuarded(deps.onShown);
    if (hasEnded) return startLate();
    cancelTimer();
    cancelTimer = clock.after(endLimitMs, () => {
      const detail = `The ad did not end within ${endLimitMs / 60_000} minutes.`;
      end({ outcome: 'stalled', detail });
    });
    callGuarded(onStart);
  }

  function startLate(): void {
    if (destroyed.aborted) return;
    const releaseGame = hold();
    const vacate = occupy();
    const finish = (): void => {
      cancelLimit();
      stopDestroyed();
      vacate?.();
      releaseGame();
    };
    const cancelLimit = clock.after(endLimitMs, finish);
    const stopDestroyed = listen(destroyed, 'abort', finish);
    releaseLate = finish;
  }

  function earnOnce(): void {
    earned ??= earn?.();
  }

  function readAnswer(answer: unknown): ShowResult {
    const { result, detail } =
      typeof answer === 'object' && answer !== null
        ? (answer as { result?: unknown; detail?: unknown })
        : { result: answer, detail: undefined };
    if (!isResult(result)) {
      const expected = Object.keys(outcomes).join(', ');
      return {
        outcome: 'error',
        reason: 'portal_failed',
        detail: `Expected the adapter's show() to resolve with one of ${expected}; got ${toText(result).slice(0, 60)}.`,
      };
    }
    // Not every portal says when an ad begins.
    if (result === 'completed' || result === 'dismissed') start();
    if (result === 'completed') earnOnce();
    return {
      outcome: outcomes[result],
      ...(result === 'error' && { reason: 'portal_failed' as const }),
      ...(detail !== undefined && { detail: toText(detail).slice(0, 300) }),
    };
  }

  async function ask(): Promise<void> {
    let result: ShowResult;
    try {
      const adapter = await connect();
      if (hasEnded) return;
      if (kind === 'rewarded') earn = track(adapter);
      const answer: unknown = await adapter.show(kind, portalPlacement, {
        onStart: start,
        onEarned: earnOnce,
        decisionId: deps.decisionId,
        signal: call.signal,
      });
      result = readAnswer(answer);
    } catch (error) {
      result =
        error instanceof NotConnected
          ? error.result
          : readAnswer({ result: 'error', detail: messageOf(error) });
    }
    isAnswered = true;
    releaseLate?.();
    end(result);
  }
  // If `onOpen` has ended the call, nothing must be shown.
  if (!hasEnded) void ask();
}

const isResult = (result: unknown): result is PortalResult =>
  typeof result === 'string' && Object.hasOwn(outcomes, result);
