/* Written by `npm run generate` from the schemas in this folder; do not edit it by hand. */

/**
 * What is shown.
 */
export type Media = VideoMedia | ImageMedia | HtmlMedia;
/**
 * The body of a webhook request.
 */
export type WebhookEvent =
  | DecisionServedEvent
  | DecisionRewardedEvent
  | PolicyBlockedEvent
  | CreativeReviewUpdatedEvent
  | KillSwitchChangedEvent;

/**
 * What a completed rewarded ad gives.
 */
export interface Reward {
  /**
   * Kind of reward, in the words of the game: `coins`.
   */
  type: string;
  /**
   * Size of the reward.
   */
  amount: number;
}
/**
 * What the service knows of the reward of one decision.
 */
export interface RewardStatus {
  /**
   * An id with the prefix `dec_`.
   */
  id: string;
  /**
   * `none`: nothing was watched yet. `pending`: watched, not confirmed yet; this is not a failure. `earned`, `denied` and `expired` are final.
   */
  state: 'none' | 'pending' | 'earned' | 'denied' | 'expired';
  /**
   * Why a reward was denied or expired.
   */
  reason?:
    | 'not_rewarded_placement'
    | 'no_impression'
    | 'watched_too_little'
    | 'impossible_timing'
    | 'overlapping_watch'
    | 'killed'
    | 'invalid_traffic'
    | 'frequency_capped'
    | 'late'
    | 'simulated';
  reward?: Reward;
  /**
   * A compact JWS (EdDSA) that proves an earned reward; its keys are at `/.well-known/jwks.json`.
   */
  receipt?: string;
}
/**
 * At most `max` verified impressions per user within `per_s` seconds.
 */
export interface FrequencyCap {
  max: number;
  per_s: number;
}
/**
 * A place in a game where an ad may be shown.
 */
export interface Placement {
  /**
   * An id with the prefix `plc_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  /**
   * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  name: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  reward?: Reward;
  frequency_cap?: FrequencyCap;
  /**
   * Least time between two verified impressions of one user.
   */
  cooldown_s: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms: number;
  /**
   * The close control is reachable no later than this.
   */
  close_after_ms: number;
  /**
   * How long after the decision a completion that was made offline still counts.
   */
  late_window_s: number;
  /**
   * What a client needs to name a user: nothing, a user token, or a decision that the customer’s server asked for. Absent: `none`.
   */
  identity?: 'none' | 'user_token' | 'server';
  status: 'active' | 'paused';
}
/**
 * Where demand comes from.
 */
export interface Source {
  /**
   * An id with the prefix `src_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  name: string;
  kind: 'house' | 'direct' | 'vast';
  tag_url?: string;
  timeout_ms?: number;
  status: 'active' | 'paused';
}
/**
 * Whose ads are shown.
 */
export interface Advertiser {
  /**
   * An id with the prefix `adv_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  name: string;
  domain: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories: string[];
}
/**
 * One encoding of a creative.
 */
export interface MediaFile {
  url: string;
  mime: string;
  width: number;
  height: number;
  /**
   * Bits per second.
   */
  bitrate?: number;
}
export interface VideoMedia {
  format: 'video';
  /**
   * @minItems 1
   * @maxItems 16
   */
  files: MediaFile[];
  duration_ms: number;
  poster?: string;
  /**
   * @maxItems 16
   */
  captions?: {
    url: string;
    language: string;
    label: string;
  }[];
}
export interface ImageMedia {
  format: 'image';
  /**
   * @minItems 1
   * @maxItems 16
   */
  files: MediaFile[];
}
/**
 * Exactly one of `url` and `inline`.
 */
export interface HtmlMedia {
  format: 'html';
  url?: string;
  inline?: string;
  width: number;
  height: number;
}
/**
 * Only an approved creative is served.
 */
export interface Review {
  status: 'pending_review' | 'approved' | 'rejected' | 'suspended';
  reason_code?: string;
  feedback?: string;
  /**
   * When the review was last changed.
   */
  reviewed_at?: string;
  reviewed_by?: string;
}
/**
 * One ad, as it is shown.
 */
export interface Creative {
  /**
   * An id with the prefix `crv_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  name: string;
  /**
   * An id with the prefix `adv_`.
   */
  advertiser_id: string;
  /**
   * An id with the prefix `src_`.
   */
  source_id: string;
  media: Media;
  click_url?: string;
  /**
   * What a player who cannot see the ad is told.
   */
  alt: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories: string[];
  review: Review;
}
/**
 * Puts a creative into placements.
 */
export interface HouseAd {
  /**
   * An id with the prefix `had_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  name: string;
  /**
   * An id with the prefix `crv_`.
   */
  creative_id: string;
  /**
   * @minItems 1
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * 1 is asked first; a lower rank is asked only when no higher one can serve.
   */
  priority: number;
  /**
   * Share among house ads of the same priority.
   */
  weight: number;
  /**
   * Not served before.
   */
  starts_at?: string;
  /**
   * Not served from here on.
   */
  ends_at?: string;
  /**
   * Verified impressions per UTC day.
   */
  daily_cap?: number;
  status: 'active' | 'paused';
}
/**
 * A rule that blocks requests or candidates.
 */
export interface Policy {
  /**
   * An id with the prefix `pol_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  name: string;
  kind: 'policy' | 'commercial' | 'brand_safety';
  /**
   * The placements it holds for; empty: all.
   *
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * All conditions that are given must hold.
   */
  when: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Known where the operator has set `COUNTRY_HEADER`, and of requests by publishable key.
     *
     * @maxItems 500
     */
    countries?: string[];
    /**
     * BCP 47; `pt` also means `pt-BR`.
     *
     * @maxItems 500
     */
    languages?: string[];
    devices?: ('desktop' | 'mobile' | 'tablet')[];
    child_directed?: boolean;
    /**
     * Hours of the UTC day.
     */
    hours?: number[];
    /**
     * The request names at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What it blocks; at least one member.
   */
  block: {
    everything?: boolean;
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `adv_`.
     */
    advertisers?: string[];
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `src_`.
     */
    sources?: string[];
    /**
     * Advertiser domains and what lies below them.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * Ids of the IAB Content Taxonomy.
     *
     * @maxItems 50
     */
    categories?: string[];
    formats?: ('video' | 'image' | 'html')[];
  };
  status: 'active' | 'paused';
}
/**
 * Stops a source, an advertiser or a placement at once, ads already decided included.
 */
export interface KillSwitch {
  /**
   * An id with the prefix `ksw_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  scope: 'source' | 'advertiser' | 'placement';
  target_id: string;
  state: 'on' | 'off';
  reason?: string;
  /**
   * Who changed it last.
   */
  actor: string;
  /**
   * Goes off by itself.
   */
  expires_at?: string;
}
/**
 * What the player agreed to. Absent means restricted, never the opposite.
 */
export interface Consent {
  status: 'granted' | 'denied' | 'unknown';
  tcf_string?: string;
  gpp_string?: string;
}
/**
 * Asks for an ad.
 */
export interface DecisionRequest {
  /**
   * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placement: string;
  /**
   * The customer’s own name for the user: 1 to 128 printable ASCII characters, echoed byte for byte.
   */
  user_ref?: string;
  /**
   * A short-lived JWT by the customer’s server that proves `user_ref`.
   */
  user_token?: string;
  /**
   * What the client can render; absent: all.
   *
   * @minItems 1
   */
  formats?: ('video' | 'image' | 'html')[];
  /**
   * CSS pixels.
   */
  viewport?: {
    width: number;
    height: number;
  };
  /**
   * BCP 47; also the forms of operating systems, as `de_DE` or `en-US@posix`.
   */
  locale?: string;
  consent?: Consent;
  child_directed?: boolean;
  /**
   * The segments that the game puts the player in, for the conditions of policies. They are not stored.
   *
   * @maxItems 20
   */
  segments?: string[];
  /**
   * Handed back in `decision.rewarded`.
   */
  custom_data?: string;
  /**
   * Forces an outcome; sandbox only.
   */
  simulate?:
    'no_fill' | 'blocked' | 'killed' | 'slow' | 'error' | 'reward_denied' | 'reward_pending';
}
/**
 * The ad to show.
 */
export interface DecisionCreative {
  /**
   * An id with the prefix `crv_`.
   */
  id: string;
  media: Media;
  click_url?: string;
  alt: string;
}
/**
 * Why one candidate was not chosen.
 */
export interface Explanation {
  /**
   * An id with the prefix `had_`.
   */
  house_ad_id?: string;
  /**
   * An id with the prefix `crv_`.
   */
  creative_id?: string;
  name: string;
  /**
   * `chosen`, or the reason why not.
   */
  verdict: string;
}
/**
 * The answer to a request for an ad.
 */
export interface Decision {
  /**
   * An id with the prefix `dec_`.
   */
  id: string;
  status: 'filled' | 'no_fill' | 'blocked';
  reason?:
    | 'frequency_capped'
    | 'cooldown'
    | 'no_candidates'
    | 'not_approved'
    | 'budget'
    | 'paused'
    | 'killed'
    | 'policy'
    | 'commercial'
    | 'brand_safety'
    | 'rate_limited'
    | 'consent_required';
  /**
   * When asking again can succeed.
   */
  retry_at?: string;
  /**
   * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placement: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  creative?: DecisionCreative;
  reward?: Reward;
  /**
   * How long it must be watched for the reward.
   */
  min_watch_ms?: number;
  close_after_ms?: number;
  /**
   * Signed by the service; goes with every event of this decision.
   */
  token?: string;
  /**
   * When the service decided.
   */
  issued_at: string;
  /**
   * Until when it may be shown.
   */
  expires_at: string;
  /**
   * Sandbox only.
   */
  explain?: Explanation[];
}
/**
 * One thing that happened to a shown ad.
 */
export interface AdEvent {
  /**
   * Made by the client when it happened; the same id twice counts once.
   */
  id: string;
  type:
    | 'impression'
    | 'viewable'
    | 'start'
    | 'first_quartile'
    | 'midpoint'
    | 'third_quartile'
    | 'complete'
    | 'click'
    | 'skip'
    | 'close'
    | 'error';
  /**
   * An id with the prefix `dec_`.
   */
  decision_id: string;
  token: string;
  /**
   * By the client’s clock.
   */
  occurred_at: string;
  /**
   * Time that the ad was playing in a visible page so far.
   */
  watched_ms?: number;
  /**
   * Share of its pixels on screen, and for how long without a break.
   */
  visible?: {
    ratio: number;
    ms: number;
  };
  detail?: string;
}
/**
 * Events of one device.
 */
export interface EventBatch {
  /**
   * By the client’s clock, when the request was made: the service corrects skew by it.
   */
  sent_at: string;
  /**
   * @minItems 1
   * @maxItems 500
   */
  events: AdEvent[];
  /**
   * Events that the device gave up since its last report, by reason.
   */
  dropped?: {
    [k: string]: number;
  };
}
/**
 * What became of one event.
 */
export interface EventResult {
  id: string;
  status: 'accepted' | 'duplicate' | 'rejected';
  code?:
    | 'invalid_event'
    | 'token_invalid'
    | 'environment_mismatch'
    | 'decision_mismatch'
    | 'expired'
    | 'late'
    | 'killed'
    | 'invalid_traffic';
}
/**
 * One result per event, so that one bad event never blocks the others.
 */
export interface EventBatchResult {
  results: EventResult[];
  /**
   * The reward of every decision that the batch touched.
   */
  decisions: RewardStatus[];
}
/**
 * Registers a receiver.
 */
export interface WebhookRequest {
  /**
   * HTTPS.
   */
  url: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  events: (
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed'
  )[];
}
/**
 * A receiver of events.
 */
export interface Webhook {
  /**
   * An id with the prefix `whk_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last changed.
   */
  updated_at: string;
  /**
   * HTTPS.
   */
  url: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  events: (
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed'
  )[];
  status: 'enabled' | 'disabled';
  /**
   * One that is `failing` is tried once an hour, and enabled when it answers; the others are not.
   */
  disabled_reason?: 'gone' | 'failing' | 'operator';
  /**
   * When it was disabled.
   */
  disabled_at?: string;
  /**
   * Shown once, when it is made.
   */
  secret?: string;
}
/**
 * An ad impression has been verified.
 */
export interface DecisionServedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'decision.served';
  /**
   * When the event was made.
   */
  created_at: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
     */
    placement: string;
    /**
     * An id with the prefix `crv_`.
     */
    creative_id: string;
    /**
     * An id with the prefix `adv_`.
     */
    advertiser_id: string;
    /**
     * An id with the prefix `src_`.
     */
    source_id: string;
    /**
     * The customer’s own name for the user: 1 to 128 printable ASCII characters, echoed byte for byte.
     */
    user_ref?: string;
    viewable: boolean;
  };
}
/**
 * A rewarded ad has completed and the reward is earned.
 */
export interface DecisionRewardedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'decision.rewarded';
  /**
   * When the event was made.
   */
  created_at: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
     */
    placement: string;
    /**
     * The customer’s own name for the user: 1 to 128 printable ASCII characters, echoed byte for byte.
     */
    user_ref: string;
    reward: Reward;
    custom_data?: string;
  };
}
/**
 * A request was blocked by a policy, a commercial rule or a brand safety rule.
 */
export interface PolicyBlockedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'policy.blocked';
  /**
   * When the event was made.
   */
  created_at: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
     */
    placement: string;
    rule: {
      /**
       * An id with the prefix `pol_`.
       */
      id: string;
      kind: 'policy' | 'commercial' | 'brand_safety';
      name: string;
    };
    /**
     * The customer’s own name for the user: 1 to 128 printable ASCII characters, echoed byte for byte.
     */
    user_ref?: string;
  };
}
/**
 * The approval status of a creative changed.
 */
export interface CreativeReviewUpdatedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'creative.review_updated';
  /**
   * When the event was made.
   */
  created_at: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `crv_`.
     */
    creative_id: string;
    previous: 'pending_review' | 'approved' | 'rejected' | 'suspended';
    current: 'pending_review' | 'approved' | 'rejected' | 'suspended';
    reason_code?: string;
    feedback?: string;
  };
}
/**
 * A kill switch was turned on or off.
 */
export interface KillSwitchChangedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'kill_switch.changed';
  /**
   * When the event was made.
   */
  created_at: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `ksw_`.
     */
    kill_switch_id: string;
    scope: 'source' | 'advertiser' | 'placement';
    target_id: string;
    state: 'on' | 'off';
    reason?: string;
    actor: string;
  };
}
/**
 * An error, by RFC 9457.
 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code:
    | 'malformed_json'
    | 'invalid_request'
    | 'simulate_in_live'
    | 'authentication_required'
    | 'key_malformed'
    | 'key_unknown'
    | 'key_revoked'
    | 'sign_in_failed'
    | 'code_required'
    | 'key_not_permitted'
    | 'role_not_permitted'
    | 'csrf_failed'
    | 'secret_key_in_browser'
    | 'origin_not_allowed'
    | 'token_invalid'
    | 'environment_mismatch'
    | 'identity_required'
    | 'not_found'
    | 'placement_not_found'
    | 'decision_gone'
    | 'method_not_allowed'
    | 'conflict'
    | 'idempotency_key_reused'
    | 'request_in_progress'
    | 'precondition_failed'
    | 'body_too_large'
    | 'unsupported_media_type'
    | 'precondition_required'
    | 'rate_limited'
    | 'internal'
    | 'simulated_error'
    | 'overloaded'
    | 'unavailable';
  request_id: string;
  errors?: {
    /**
     * RFC 6901 pointer to the field.
     */
    pointer: string;
    message: string;
  }[];
}
/**
 * Creates: Placement.
 */
export interface PlacementRequest {
  /**
   * Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  name: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  reward?: Reward;
  frequency_cap?: FrequencyCap;
  /**
   * Least time between two verified impressions of one user.
   */
  cooldown_s?: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms?: number;
  /**
   * The close control is reachable no later than this.
   */
  close_after_ms?: number;
  /**
   * How long after the decision a completion that was made offline still counts.
   */
  late_window_s?: number;
  /**
   * What a client needs to name a user: nothing, a user token, or a decision that the customer’s server asked for. Absent: `none`.
   */
  identity?: 'none' | 'user_token' | 'server';
  status?: 'active' | 'paused';
}
/**
 * Changes: Placement. A member that is given replaces the stored one; `null` removes it.
 */
export interface PlacementUpdate {
  reward?: Reward | null;
  frequency_cap?: FrequencyCap | null;
  /**
   * Least time between two verified impressions of one user.
   */
  cooldown_s?: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms?: number;
  /**
   * The close control is reachable no later than this.
   */
  close_after_ms?: number;
  /**
   * How long after the decision a completion that was made offline still counts.
   */
  late_window_s?: number;
  identity?: ('none' | 'user_token' | 'server') | null;
  status?: 'active' | 'paused';
}
/**
 * Creates: Source.
 */
export interface SourceRequest {
  name: string;
  kind: 'house' | 'direct' | 'vast';
  tag_url?: string;
  timeout_ms?: number;
  status?: 'active' | 'paused';
}
/**
 * Changes: Source. A member that is given replaces the stored one; `null` removes it.
 */
export interface SourceUpdate {
  name?: string;
  tag_url?: string | null;
  timeout_ms?: number | null;
  status?: 'active' | 'paused';
}
/**
 * Creates: Advertiser.
 */
export interface AdvertiserRequest {
  name: string;
  domain: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Changes: Advertiser. A member that is given replaces the stored one; `null` removes it.
 */
export interface AdvertiserUpdate {
  name?: string;
  domain?: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Creates: Creative.
 */
export interface CreativeRequest {
  name: string;
  /**
   * An id with the prefix `adv_`.
   */
  advertiser_id: string;
  /**
   * An id with the prefix `src_`.
   */
  source_id: string;
  media: Media;
  click_url?: string;
  /**
   * What a player who cannot see the ad is told.
   */
  alt: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Changes: Creative. A member that is given replaces the stored one; `null` removes it.
 */
export interface CreativeUpdate {
  name?: string;
  /**
   * An id with the prefix `adv_`.
   */
  advertiser_id?: string;
  /**
   * An id with the prefix `src_`.
   */
  source_id?: string;
  media?: Media;
  click_url?: string | null;
  /**
   * What a player who cannot see the ad is told.
   */
  alt?: string;
  /**
   * Ids of the IAB Content Taxonomy.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Creates: HouseAd.
 */
export interface HouseAdRequest {
  name: string;
  /**
   * An id with the prefix `crv_`.
   */
  creative_id: string;
  /**
   * @minItems 1
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * 1 is asked first; a lower rank is asked only when no higher one can serve.
   */
  priority?: number;
  /**
   * Share among house ads of the same priority.
   */
  weight?: number;
  /**
   * Not served before.
   */
  starts_at?: string;
  /**
   * Not served from here on.
   */
  ends_at?: string;
  /**
   * Verified impressions per UTC day.
   */
  daily_cap?: number;
  status?: 'active' | 'paused';
}
/**
 * Changes: HouseAd. A member that is given replaces the stored one; `null` removes it.
 */
export interface HouseAdUpdate {
  name?: string;
  /**
   * An id with the prefix `crv_`.
   */
  creative_id?: string;
  /**
   * @minItems 1
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * 1 is asked first; a lower rank is asked only when no higher one can serve.
   */
  priority?: number;
  /**
   * Share among house ads of the same priority.
   */
  weight?: number;
  starts_at?: string | null;
  ends_at?: string | null;
  daily_cap?: number | null;
  status?: 'active' | 'paused';
}
/**
 * Creates: Policy.
 */
export interface PolicyRequest {
  name: string;
  kind: 'policy' | 'commercial' | 'brand_safety';
  /**
   * The placements it holds for; empty: all.
   *
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * All conditions that are given must hold.
   */
  when?: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Known where the operator has set `COUNTRY_HEADER`, and of requests by publishable key.
     *
     * @maxItems 500
     */
    countries?: string[];
    /**
     * BCP 47; `pt` also means `pt-BR`.
     *
     * @maxItems 500
     */
    languages?: string[];
    devices?: ('desktop' | 'mobile' | 'tablet')[];
    child_directed?: boolean;
    /**
     * Hours of the UTC day.
     */
    hours?: number[];
    /**
     * The request names at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What it blocks; at least one member.
   */
  block: {
    everything?: boolean;
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `adv_`.
     */
    advertisers?: string[];
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `src_`.
     */
    sources?: string[];
    /**
     * Advertiser domains and what lies below them.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * Ids of the IAB Content Taxonomy.
     *
     * @maxItems 50
     */
    categories?: string[];
    formats?: ('video' | 'image' | 'html')[];
  };
  status?: 'active' | 'paused';
}
/**
 * Changes: Policy. A member that is given replaces the stored one; `null` removes it.
 */
export interface PolicyUpdate {
  name?: string;
  kind?: 'policy' | 'commercial' | 'brand_safety';
  /**
   * The placements it holds for; empty: all.
   *
   * @maxItems 100
   *
   * Items: Lower-case letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * All conditions that are given must hold.
   */
  when?: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Known where the operator has set `COUNTRY_HEADER`, and of requests by publishable key.
     *
     * @maxItems 500
     */
    countries?: string[];
    /**
     * BCP 47; `pt` also means `pt-BR`.
     *
     * @maxItems 500
     */
    languages?: string[];
    devices?: ('desktop' | 'mobile' | 'tablet')[];
    child_directed?: boolean;
    /**
     * Hours of the UTC day.
     */
    hours?: number[];
    /**
     * The request names at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What it blocks; at least one member.
   */
  block?: {
    everything?: boolean;
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `adv_`.
     */
    advertisers?: string[];
    /**
     * @maxItems 500
     *
     * Items: An id with the prefix `src_`.
     */
    sources?: string[];
    /**
     * Advertiser domains and what lies below them.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * Ids of the IAB Content Taxonomy.
     *
     * @maxItems 50
     */
    categories?: string[];
    formats?: ('video' | 'image' | 'html')[];
  };
  status?: 'active' | 'paused';
}
/**
 * Creates: KillSwitch.
 */
export interface KillSwitchRequest {
  scope: 'source' | 'advertiser' | 'placement';
  target_id: string;
  state: 'on' | 'off';
  reason?: string;
  /**
   * Who changed it last.
   */
  actor?: string;
  /**
   * Goes off by itself.
   */
  expires_at?: string;
}
/**
 * Changes: KillSwitch. A member that is given replaces the stored one; `null` removes it.
 */
export interface KillSwitchUpdate {
  state?: 'on' | 'off';
  reason?: string | null;
  /**
   * Who changed it last.
   */
  actor?: string;
  expires_at?: string | null;
}
/**
 * Changes the review of a creative.
 */
export interface ReviewRequest {
  status: 'pending_review' | 'approved' | 'rejected' | 'suspended';
  reason_code?: string;
  feedback?: string;
  reviewed_by?: string;
}
/**
 * Changes a webhook.
 */
export interface WebhookUpdate {
  /**
   * HTTPS.
   */
  url?: string;
  /**
   * @minItems 1
   * @maxItems 5
   */
  events?: (
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed'
  )[];
  status?: 'enabled' | 'disabled';
}
/**
 * Sends a made-up event.
 */
export interface WebhookTest {
  /**
   * Absent: the first that the webhook subscribes to.
   */
  type?:
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed';
}
/**
 * One request to a receiver.
 */
export interface DeliveryAttempt {
  attempt: number;
  /**
   * When it was sent.
   */
  started_at: string;
  latency_ms: number;
  /**
   * HTTP status; absent: no answer.
   */
  status?: number;
  /**
   * Why there was no answer.
   */
  error?: string;
  /**
   * The first KiB of the answer.
   */
  response?: string;
}
/**
 * One event on its way to one webhook.
 */
export interface Delivery {
  /**
   * An id with the prefix `del_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * An id with the prefix `whk_`.
   */
  webhook_id: string;
  /**
   * An id with the prefix `evt_`.
   */
  event_id: string;
  event_type:
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed';
  state: 'pending' | 'delivered' | 'failed';
  attempts: DeliveryAttempt[];
  /**
   * While it is pending.
   */
  next_attempt_at?: string;
  /**
   * When it was queued.
   */
  created_at: string;
}
/**
 * What was queued again.
 */
export interface RecoveryResult {
  queued: number;
}
/**
 * A key; its text is not stored.
 */
export interface ApiKey {
  /**
   * An id with the prefix `key_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  kind: 'publishable' | 'secret';
  /**
   * The last characters of its text.
   */
  last_four: string;
  allowed_origins: string[];
  /**
   * How many requests it may send; absent: what the service allows a key.
   */
  rate_limit?: {
    /**
     * Requests a second.
     */
    per_s: number;
    /**
     * Requests at once.
     */
    burst: number;
  };
  /**
   * When it was made.
   */
  created_at: string;
  /**
   * When it was last used, to about ten seconds.
   */
  last_used_at?: string;
  /**
   * From when on it does not work; this can lie ahead.
   */
  revoked_at?: string;
  /**
   * When a web page last used it, although it is secret: replace it.
   */
  leaked_at?: string;
  /**
   * The origin of that page.
   */
  leaked_to?: string;
  /**
   * Its text; shown once, when it is made.
   */
  key?: string;
}
/**
 * Makes a key of the same environment.
 */
export interface ApiKeyRequest {
  kind: 'publishable' | 'secret';
  /**
   * Where a publishable key may be used; `*` is everywhere.
   *
   * @minItems 1
   * @maxItems 100
   */
  allowed_origins?: string[];
  /**
   * How many requests it may send; absent: what the service allows a key.
   */
  rate_limit?: {
    /**
     * Requests a second.
     */
    per_s: number;
    /**
     * Requests at once.
     */
    burst: number;
  };
}
/**
 * Changes where, and how often, a key may be used.
 */
export interface ApiKeyUpdate {
  /**
   * Where a publishable key may be used; `*` is everywhere.
   *
   * @minItems 1
   * @maxItems 100
   */
  allowed_origins?: string[];
  /**
   * null: what the service allows a key.
   */
  rate_limit?: {
    /**
     * Requests a second.
     */
    per_s: number;
    /**
     * Requests at once.
     */
    burst: number;
  } | null;
}
/**
 * How long the old one still works.
 */
export interface OverlapRequest {
  /**
   * Seconds; 0 ends it at once.
   */
  overlap_s: number;
}
/**
 * One thing that an operator did.
 */
export interface AuditEntry {
  /**
   * An id with the prefix `aud_`.
   */
  id: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When it was done.
   */
  created_at: string;
  /**
   * The id of the key, the e-mail of the user, `service`, or `command_line`.
   */
  actor: string;
  /**
   * What was done: `placement.updated`.
   */
  action: string;
  /**
   * The id of what it was done to.
   */
  target_id: string;
  request_id?: string;
  /**
   * The object before; absent: new.
   */
  before?: {
    [k: string]: unknown;
  };
  /**
   * The object after; absent: gone.
   */
  after?: {
    [k: string]: unknown;
  };
}
/**
 * The sums of one period and group.
 */
export interface ReportRow {
  /**
   * When the period begins.
   */
  period: string;
  /**
   * When it was grouped by; empty: none.
   */
  placement?: string;
  /**
   * When it was grouped by; empty: none.
   */
  creative?: string;
  /**
   * When it was grouped by; empty: none.
   */
  source?: string;
  /**
   * When it was grouped by; empty: none.
   */
  advertiser?: string;
  /**
   * When it was grouped by; empty: none.
   */
  reason?: string;
  requests: number;
  filled: number;
  no_fill: number;
  blocked: number;
  impressions: number;
  viewable: number;
  starts: number;
  first_quartiles: number;
  midpoints: number;
  third_quartiles: number;
  completes: number;
  clicks: number;
  rewards_earned: number;
  rewards_denied: number;
  rewards_expired: number;
  /**
   * Why, and how often.
   */
  reasons: {
    no_fill: {
      [k: string]: number;
    };
    blocked: {
      [k: string]: number;
    };
    rewards_denied: {
      [k: string]: number;
    };
    rewards_expired: {
      [k: string]: number;
    };
  };
  /**
   * `filled` of `requests`. Absent: nothing to divide by.
   */
  fill_rate?: number;
  /**
   * `impressions` of `filled`. Absent: nothing to divide by.
   */
  view_through_rate?: number;
  /**
   * `completes` of `starts`. Absent: nothing to divide by.
   */
  completion_rate?: number;
}
/**
 * Sums of what happened.
 */
export interface Report {
  /**
   * Included.
   */
  from: string;
  /**
   * Not included.
   */
  to: string;
  interval: 'hour' | 'day';
  /**
   * The zone whose days these are.
   */
  tz: string;
  data: ReportRow[];
}
/**
 * Makes a new secret for user tokens.
 */
export interface UserTokenSecretRequest {
  /**
   * How long older secrets still verify.
   */
  overlap_s: number;
}
/**
 * What the customer’s server signs user tokens with (HS256; the whole text is the key).
 */
export interface UserTokenSecret {
  /**
   * `utk_<environment>_…`, shown this once.
   */
  secret: string;
  /**
   * Sandbox credentials make test data only; live ones act on real inventory.
   */
  environment: 'sandbox' | 'live';
}
