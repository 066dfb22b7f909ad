import type { Decision, DecisionCreative } from '../../protocol/wire.ts';
import type { LoadedCreative } from '../creative/renderer.ts';
import type { RequestOptions } from '../options.ts';
import type { Availability, Outcome, Reason } from '../outcome.ts';
import type { Deadline } from '../platform/clock.ts';
import type { Player } from '../player-context.ts';

/** A decision that has an ad. */
export type FilledDecision = Decision & {
  status: 'filled';
  creative: DecisionCreative;
  token: string;
};

/** An ad that can be shown at once; whoever takes it destroys the creative. */
export interface ReadyAd {
  /** The player for whom it was requested. */
  player?: Player | undefined;
  decision: FilledDecision;
  creative: LoadedCreative;
  /** The service no longer counts an ad that begins after this. */
  expiry: Deadline;
}

/** Why there is no ad. */
export interface NoAd {
  outcome: Outcome;
  reason?: Reason;
  /** Text for the developer, where the reason says too little. */
  detail?: string;
  /** When asking again can succeed; asking earlier is answered with this, without a request. */
  retryAt?: Date;
  decisionId?: string;
}

/** Gets ads ready, placement by placement, one request at a time for each. */
export interface Decisions {
  /**
   * Returns the ad preloaded with the same options, or requests a new one. Never rejects; an abort by `signal` is
   * an outcome too.
   */
  take(placement: string, signal: AbortSignal, options?: RequestOptions): Promise<ReadyAd | NoAd>;
  /** Gets an ad ready, so that `take` does not wait: of the `decision` that is given, or of a new one. */
  preload(
    placement: string,
    signal: AbortSignal,
    options?: RequestOptions & { decision?: Decision },
  ): Promise<Availability>;
  /** Whether anything is known that speaks against an ad now. Asks nobody. */
  availability(placement: string): Availability;
  /** Forgets what was preloaded or refused, because the terms of asking have changed. */
  forget(): void;
  /** Aborts what is on its way, and destroys what was preloaded. */
  destroy(): void;
}
