import type { Decision, Problem, RewardStatus } from '../protocol/wire.ts';

/**
 * How a call to show an ad ended. Every call ends with exactly one outcome.
 *
 * - `rewarded`: the player watched the ad, and the service confirmed the reward.
 * - `pending`: the player watched the ad, but the confirmation has not arrived yet. A `reward` event follows.
 * - `completed`: an interstitial or a banner was shown.
 * - `dismissed`: the player closed the ad before the reward was due.
 * - `denied`: the service denied the reward; `reason` says why.
 * - `ad_free`: the player sees no ads in this format; see `isAdFree()`.
 * - `no_fill`, `frequency_capped`, `cooldown`, `blocked`, `killed`: there was no ad. `retryAt` is set if the time to
 *   retry is known.
 * - `ad_blocked`: a browser extension or a network filter blocked the request.
 * - `offline`, `timeout`: the service could not be reached, or did not respond in time.
 * - `stalled`: the ad started, but then stopped making progress.
 * - `already_showing`: another ad is on the screen or being requested.
 * - `aborted`: the game aborted the call or destroyed the SDK.
 * - `not_ready`: consent is not known yet.
 * - `invalid_placement`: the placement does not exist or has another format.
 * - `error`: anything else; `reason` says why.
 */
export type Outcome =
  | 'rewarded'
  | 'pending'
  | 'completed'
  | 'dismissed'
  | 'denied'
  | 'ad_free'
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

/**
 * How far a reward can be trusted. `verified`: the service itself has verified that the ad was watched. `source_attested`:
 * the server of the ad network says so. `client_attested`: only an ad SDK on the player’s device says so, which a
 * determined player can fake. More values may be added.
 */
export type Evidence = 'verified' | 'source_attested' | 'client_attested' | (string & {});

/** A reward: a type that your game defines, and an amount. */
export interface Reward {
  type: string;
  amount: number;
  /** Who credits the player: your own code or server (the default), or the service, in the player’s wallet. */
  credit?: 'webhook' | 'wallet';
}

/** What every result of a call to show an ad may contain. */
interface ResultDetails {
  /** The decision behind the result, for support requests and `rewardStatus()`. */
  decisionId?: string;
  /** A stable code that explains the outcome, and that your code can branch on. */
  reason?: Reason;
  /** Details for the developer. */
  detail?: string;
  /** The earliest time at which another request may succeed. */
  retryAt?: Date;
}

/** The result of a call to show an ad. Only an ad that was watched has a `reward`. */
export type ShowResult =
  | (ResultDetails & {
      outcome: 'rewarded' | 'pending';
      /** The confirmed or pending reward. */
      reward?: Reward;
      /** On a portal: how far the reward can be trusted. */
      evidence?: Evidence;
    })
  | (ResultDetails & {
      outcome: Exclude<Outcome, 'rewarded' | 'pending'>;
      reward?: never;
      evidence?: never;
    });

/** The state of a reward. `earned`, `denied` and `expired` are final; `pending` is not a failure. */
export type RewardState = RewardStatus['state'];

/** One decision’s reward status, as known to the service or, while offline, to this device. */
export interface RewardReport {
  decisionId: string;
  state: RewardState;
  reason?: Reason;
  reward?: Reward;
  /** A signed proof for a game server that has no webhook endpoint. */
  receipt?: string;
  /** How far the reward can be trusted, once it is earned. */
  evidence?: Evidence;
}

/** A confirmed reward, as delivered to the game. */
export interface EarnedReward {
  decisionId: string;
  placement: string;
  reward: Reward;
  receipt?: string;
  /** How far the reward can be trusted, once it is earned. */
  evidence?: Evidence;
  /**
   * The id of the player who earned the reward, from `userRef` or the user token. It differs from the current player’s
   * id only after `setUser(user, { transferRewards: true })`.
   */
  userRef?: string;
}

/** Whether an ad may be offered now. */
export interface Availability {
  /** Whether nothing that this device knows speaks against an ad. */
  available: boolean;
  /** If no ad may be offered: how a call would end. */
  outcome?: Outcome;
  /** A stable code that explains the outcome. */
  reason?: Reason;
  /** The earliest time at which a request may succeed. */
  retryAt?: Date;
  /**
   * What the ad earns, for a text such as “Watch an ad for 50 coins”. Known as soon as a rewarded ad is loaded and, on a
   * portal, from the start.
   */
  reward?: Reward;
}

/** Why the service returned no ad. */
export type UnfilledReason = NonNullable<Decision['reason']>;

/** Why `createAds()` rejected its options. */
export type OptionErrorCode =
  | 'option_missing'
  | 'option_unknown'
  | 'option_invalid'
  | 'secret_key_in_browser'
  | 'key_malformed';

/**
 * A stable code that explains an outcome: a reason or problem code from the service, or one of these SDK codes.
 *
 * - `consent_unknown`: the player has not made a privacy choice yet.
 * - `network`, `blocked`, `timeout`, `unexpected_response`, `incomplete_response`: the service could not be reached. An
 *   unexpected response comes from something other than the service, such as a captive portal.
 * - `load_failed`, `load_timeout`: the ad's media failed to load or took too long.
 * - `media_duration`: the media is shorter or longer than its creative declares. `ended_early`: the media ended before all
 *   of it had played, because its data was cut off or its position was moved.
 * - `expired`: the ad expired before it was viewable.
 * - `wrong_format`: the placement's format does not match the call.
 * - `wrong_placement`, `decision_malformed`, `incomplete_decision`: the decision's ad cannot be shown.
 * - `open_failed`, `play_refused`, `message_flood`, `media_…`: the ad failed while it was shown.
 * - `creative_navigated`: an HTML creative left its page.
 * - `not_visible`: the page's styles hide the ad, or something covers it; `detail` says what.
 * - `unknown_to_service`: the service has deleted the decision for a pending reward.
 * - `user_token_failed`: the game’s `userToken` function failed.
 * - `no_dom`: the SDK is not running in a web page. `not_started`: the SDK has not been started yet. `destroyed`: the
 *   SDK was destroyed.
 * - `portal_failed`: a portal's SDK or its adapter failed; `detail` describes it. `portal_only`: on a portal, only the
 *   portal's own ads may be shown. `reward_unknown`: `portalRewards` has no reward for the placement.
 * - `no_page_ad`: an ad SDK in the page has no ad.
 * - `sdk_error`: a bug in the SDK; `detail` describes it.
 * - `child_directed`: a child has no wallet. `storage_failed`: the device can’t store anything. `player_changed`: the
 *   player changed before the spend was sent, so nobody was charged.
 */
export type Reason =
  | UnfilledReason
  | NonNullable<RewardStatus['reason']>
  | Problem['code']
  | OptionErrorCode
  | 'aborted'
  | 'blocked'
  | 'child_directed'
  | 'consent_unknown'
  | 'creative_navigated'
  | 'decision_malformed'
  | 'destroyed'
  | 'ended_early'
  | 'expired'
  | 'incomplete_decision'
  | 'incomplete_response'
  | 'load_failed'
  | 'load_timeout'
  | 'media_aborted'
  | 'media_decode'
  | 'media_duration'
  | 'media_failed'
  | 'media_network'
  | 'media_not_supported'
  | 'message_flood'
  | 'network'
  | 'no_dom'
  | 'no_page_ad'
  | 'not_started'
  | 'not_visible'
  | 'open_failed'
  | 'play_refused'
  | 'player_changed'
  | 'portal_failed'
  | 'portal_only'
  | 'reward_unknown'
  | 'sdk_error'
  | 'storage_failed'
  | 'timeout'
  | 'unexpected_response'
  | 'unknown_to_service'
  | 'user_token_failed'
  | 'wrong_format'
  | 'wrong_placement';
