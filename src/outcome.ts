import type { Decision, RewardStatus } from '../protocol/wire.ts';

/**
 * How a call to show an ad ended. Every call ends with exactly one of these.
 *
 * - `rewarded`: watched, and the service confirmed the reward.
 * - `pending`: watched; the confirmation is on its way, and the `reward` event will tell.
 * - `completed`: an interstitial or house ad was shown to its end.
 * - `dismissed`: the player closed it before the reward was due.
 * - `denied`: watched, but the service refused the reward; `reason` says why.
 * - `no_fill`, `frequency_capped`, `cooldown`, `blocked`, `killed`: there was no ad; `retryAt` says
 *   when asking again can succeed, where that is known.
 * - `ad_blocked`: a browser extension or a network filter stopped the request.
 * - `offline`, `timeout`: the service could not be reached, or not in time.
 * - `stalled`: the ad began and then stood still.
 * - `already_showing`: another ad is on the screen, or being requested for it.
 * - `aborted`: the game aborted the call, or destroyed the SDK meanwhile.
 * - `not_ready`: consent is not known yet, or the page is hidden.
 * - `invalid_placement`: the service knows no such placement, or it has another format.
 * - `error`: anything else; `reason` says what.
 */
export type Outcome =
  | 'rewarded'
  | 'pending'
  | 'completed'
  | 'dismissed'
  | 'denied'
  | 'no_fill'
  | 'frequency_capped'
  | 'cooldown'
  | 'blocked'
  | 'killed'
  | 'ad_blocked'
  | 'offline'
  | 'timeout'
  | 'stalled'
  | 'already_showing'
  | 'aborted'
  | 'not_ready'
  | 'invalid_placement'
  | 'error';

/** What a reward is: its kind in the words of the game, and its size. */
export interface Reward {
  type: string;
  amount: number;
}

/** The answer to every call that shows an ad. */
export interface ShowResult {
  outcome: Outcome;
  /** The decision that was shown or refused, for support and `rewardStatus()`. */
  decisionId?: string;
  /** Why, in a stable word of the service or the SDK. */
  reason?: string;
  /** Text for the developer, where the reason says too little. */
  detail?: string;
  /** When asking again can succeed. */
  retryAt?: Date;
  /** The reward that was confirmed, or that is awaited. */
  reward?: Reward;
}

/** Where a reward stands; `earned`, `denied` and `expired` are final, `pending` is not a failure. */
export type RewardState = RewardStatus['state'];

/** What the service, or this device while offline, knows of the reward of one decision. */
export interface RewardReport {
  decisionId: string;
  state: RewardState;
  reason?: string;
  reward?: Reward;
  /** A signed proof for a game server that has no webhook endpoint. */
  receipt?: string;
}

/** A reward that the service confirmed, as it is handed to the game. */
export interface EarnedReward {
  decisionId: string;
  placement: string;
  reward: Reward;
  receipt?: string;
}

/** Whether an ad can be offered now. */
export interface Availability {
  available: boolean;
  reason?: Outcome;
  retryAt?: Date;
}

/** Why a request for an ad was answered without one. */
export type UnfilledReason = NonNullable<Decision['reason']>;
