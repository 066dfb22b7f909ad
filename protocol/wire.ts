/* Written by `npm run generate` from the schemas in this folder; do not edit it by hand. */

/**
 * A creative’s media.
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
 * What a watched rewarded ad earns.
 */
export interface Reward {
  /**
   * The type of reward, as named by the game, such as `coins`.
   */
  type: string;
  /**
   * The amount of the reward.
   */
  amount: number;
}
/**
 * The state of a decision’s reward.
 */
export interface RewardStatus {
  /**
   * An id with the prefix `dec_`.
   */
  id: string;
  /**
   * `none`: not watched yet. `pending`: watched, not confirmed yet; this is not a failure. `earned`, `denied` and `expired` are final.
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
   * The kind of proof that the ad was watched. `verified`: the SDK showed the ad, and the service itself judged the impression and the watch time. More values may follow.
   */
  evidence?: string;
  /**
   * A compact JWS (EdDSA) that proves an earned reward; the keys are at `/.well-known/jwks.json`.
   */
  receipt?: string;
}
/**
 * At most `max` verified impressions per player within `per_s` seconds.
 */
export interface FrequencyCap {
  max: number;
  per_s: number;
}
/**
 * A spot in a game where an ad may appear.
 */
export interface Placement {
  /**
   * An id with the prefix `plc_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
   */
  updated_at: string;
  /**
   * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  name: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  reward?: Reward;
  frequency_cap?: FrequencyCap;
  /**
   * Minimum time between two verified impressions for the same player.
   */
  cooldown_s: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms: number;
  /**
   * The latest time at which the close button appears.
   */
  close_after_ms: number;
  /**
   * How long after the decision an offline completion is still accepted.
   */
  late_window_s: number;
  /**
   * What proves who the player is: nothing, a user token, or a decision requested by the customer’s server. Absent: `none`.
   */
  identity?: 'none' | 'user_token' | 'server';
  status: 'active' | 'paused';
}
/**
 * A source of ads.
 */
export interface Source {
  /**
   * An id with the prefix `src_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
   */
  updated_at: string;
  name: string;
  /**
   * Ads that you upload (`house`, `direct`), a VAST ad tag, or an OpenRTB bidder.
   */
  kind: 'house' | 'direct' | 'vast' | 'openrtb';
  /**
   * `vast`: the ad tag, an https URL. VAST 4 macros, such as `[CACHEBUSTING]`, are expanded in every request.
   */
  tag_url?: string;
  /**
   * `openrtb`: the bidder’s https URL.
   */
  endpoint_url?: string;
  /**
   * `openrtb`: the OpenRTB version that the bidder expects; default 2.6.
   */
  ortb_version?: '2.5' | '2.6';
  /**
   * `openrtb`: merged into every bid request, such as `{"ext":{"prebid":{"storedrequest":{"id":"…"}}}}` for a Prebid Server; at most 16,384 bytes of JSON.
   */
  ext?: {
    [k: string]: unknown;
  };
  /**
   * `openrtb`: your publisher id with the bidder, sent as `site.publisher.id`.
   */
  publisher_id?: string;
  /**
   * `openrtb`: every party that handles the payment for an impression before the bidder, starting with you; sent as a complete `source.schain` with `hp: 1` in every node.
   *
   * @minItems 1
   * @maxItems 32
   */
  supply_chain?: {
    /**
     * The advertising system’s domain, in lowercase.
     */
    asi: string;
    /**
     * The seller’s id in that system.
     */
    sid: string;
  }[];
  /**
   * Set by the service: the names of the stored `request_headers`.
   */
  request_header_names?: string[];
  /**
   * `vast` and `openrtb`: the rewarded and interstitial placements that the source may fill. If absent, it fills none.
   *
   * @maxItems 100
   *
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * `vast` and `openrtb`: 1 is requested first; the same scale as for house ads. Default 5.
   */
  priority?: number;
  /**
   * `vast`: what a thousand verified impressions are worth, in millionths of `currency`; default 0. Determines the order of sources with the same priority and counts as revenue.
   */
  cpm_micros?: number;
  /**
   * `openrtb`: the lowest accepted price per thousand impressions, in millionths of `currency`; default 0.
   */
  floor_micros?: number;
  /**
   * `vast` and `openrtb`: ISO 4217; default `USD`.
   */
  currency?: string;
  /**
   * `vast` and `openrtb`: how long the source may take, including wrappers; default 1,000.
   */
  timeout_ms?: number;
  /**
   * `vast` and `openrtb`: `automatic` approves new creatives of the advertisers in `allowed_domains`; default `manual`.
   */
  review?: 'manual' | 'automatic';
  /**
   * `review: automatic`: advertiser domains, including their subdomains.
   *
   * @maxItems 1000
   */
  allowed_domains?: string[];
  /**
   * `vast` and `openrtb`: when impression trackers are requested; default `verified`. `burl` always waits for the verified impression.
   */
  impression_on?: 'verified' | 'rendered';
  /**
   * `vast` and `openrtb`: how long after the decision trackers are requested; default 1,800. Trackers that become due later are only counted.
   */
  tracking_window_s?: number;
  /**
   * `vast` and `openrtb`: whether the source accepts child-directed requests. By default, it does not, and receives none.
   */
  child_directed?: boolean;
  /**
   * `vast` and `openrtb`: which headers pass the player’s IP and browser to trackers: `iab` (default) sends `X-Device-IP` and `X-Device-User-Agent`, `forwarded` sends `X-Forwarded-For` and `User-Agent`.
   */
  header_profile?: 'iab' | 'forwarded';
  /**
   * `vast` and `openrtb`: the lines that the source requires in the site’s `ads.txt`; `trueward-service doctor` checks for these lines, and for the sellers in `publisher_id` and `supply_chain`.
   */
  ads_txt?: {
    /**
     * The root domain of the site with the game.
     */
    domain: string;
    /**
     * @minItems 1
     * @maxItems 500
     */
    lines: string[];
  };
  status: 'active' | 'paused';
}
/**
 * The advertiser of a creative.
 */
export interface Advertiser {
  /**
   * An id with the prefix `adv_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
   */
  updated_at: string;
  name: string;
  domain: string;
  /**
   * IAB Content Taxonomy ids.
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
 * The review of a creative; only approved creatives are served.
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
 * An ad.
 */
export interface Creative {
  /**
   * An id with the prefix `crv_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
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
   * Alternative text for players who cannot see the ad.
   */
  alt: string;
  /**
   * IAB Content Taxonomy ids.
   *
   * @maxItems 50
   */
  categories: string[];
  review: Review;
  /**
   * Identifies the creative within its external source. Set by the service when it imports the creative.
   */
  source_key?: string;
  /**
   * The URL from which an external creative’s media was fetched and with which it is compared daily. Set by the service.
   */
  origin_url?: string;
  /**
   * Copies of the icons, such as AdChoices, that an external source shows with the creative. Set by the service.
   *
   * @maxItems 8
   */
  icons?: {
    /**
     * The URL from which the icon was fetched, without the query.
     */
    origin_url: string;
    url: string;
    width: number;
    height: number;
  }[];
}
/**
 * Runs a creative on placements.
 */
export interface HouseAd {
  /**
   * An id with the prefix `had_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
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
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * 1 is the highest; lower priorities are considered only when no higher one can serve.
   */
  priority: number;
  /**
   * The share among house ads of the same priority.
   */
  weight: number;
  /**
   * Not served before this time.
   */
  starts_at?: string;
  /**
   * Not served at or after this time.
   */
  ends_at?: string;
  /**
   * Maximum number of verified impressions per UTC day.
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
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
   */
  updated_at: string;
  name: string;
  kind: 'policy' | 'commercial' | 'brand_safety';
  /**
   * The placements to which the policy applies. If empty, it applies to all placements.
   *
   * @maxItems 100
   *
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * All of the specified conditions must match.
   */
  when: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Only known for requests with a publishable key, and only if the operator has set `COUNTRY_HEADER`.
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
     * The request has at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What the policy blocks; at least one field is required.
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
     * Advertiser domains, including their subdomains.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * IAB Content Taxonomy ids.
     *
     * @maxItems 50
     */
    categories?: string[];
    formats?: ('video' | 'image' | 'html')[];
  };
  status: 'active' | 'paused';
}
/**
 * Stops a source, an advertiser or a placement immediately, including ads that have already been decided.
 */
export interface KillSwitch {
  /**
   * An id with the prefix `ksw_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
   */
  updated_at: string;
  scope: 'source' | 'advertiser' | 'placement';
  target_id: string;
  state: 'on' | 'off';
  reason?: string;
  /**
   * Who last changed the kill switch.
   */
  actor: string;
  /**
   * When the kill switch turns off by itself.
   */
  expires_at?: string;
}
/**
 * The player’s consent. If absent, ads are restricted.
 */
export interface Consent {
  status: 'granted' | 'denied' | 'unknown';
  tcf_string?: string;
  gpp_string?: string;
}
/**
 * Requests an ad.
 */
export interface DecisionRequest {
  /**
   * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placement: string;
  /**
   * The customer’s own id for the player: 1 to 128 printable ASCII characters, returned unchanged.
   */
  user_ref?: string;
  /**
   * A short-lived JWT, signed by the customer’s server, that proves `user_ref`.
   */
  user_token?: string;
  /**
   * The formats that the client can render. If absent, all of them.
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
   * BCP 47; operating system locales such as `de_DE` or `en-US@posix` are accepted too.
   */
  locale?: string;
  consent?: Consent;
  child_directed?: boolean;
  /**
   * The player’s segments in the game, for policy conditions. Not stored.
   *
   * @maxItems 20
   */
  segments?: string[];
  /**
   * Returned in `decision.rewarded`.
   */
  custom_data?: string;
  /**
   * Forces an outcome; sandbox only.
   */
  simulate?:
    'no_fill' | 'blocked' | 'killed' | 'slow' | 'error' | 'reward_denied' | 'reward_pending';
}
/**
 * An image that must be shown in a corner of the ad, such as AdChoices.
 */
export interface AdIcon {
  url: string;
  /**
   * CSS pixels; shown smaller if it does not fit.
   */
  width: number;
  /**
   * CSS pixels.
   */
  height: number;
  /**
   * Absent: `AdChoices`.
   */
  alt?: string;
  click_url?: string;
  /**
   * Absent: `right`.
   */
  x?: 'left' | 'right';
  /**
   * Absent: `top`.
   */
  y?: 'top' | 'bottom';
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
  /**
   * The advertiser’s name, otherwise its domain. Every ad from an external source has it, and only such an ad has `icon` and `skip_after_ms`.
   */
  advertiser?: string;
  icon?: AdIcon;
  /**
   * How long the ad has to play before the player can skip it. If absent, the ad has no skip control.
   */
  skip_after_ms?: number;
}
/**
 * Why a candidate was or was not chosen.
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
  /**
   * An id with the prefix `src_`.
   */
  source_id?: string;
  name: string;
  /**
   * `chosen`, or why the candidate was not chosen.
   */
  verdict: string;
  /**
   * How long the source took to respond.
   */
  ms?: number;
  /**
   * The HTTP status of the source’s last response.
   */
  http_status?: number;
  /**
   * The VAST error code that was reported to the source.
   */
  vast_error?: number;
}
/**
 * The response to an ad request.
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
   * When a request can succeed again.
   */
  retry_at?: string;
  /**
   * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placement: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  creative?: DecisionCreative;
  reward?: Reward;
  /**
   * The watch time that the reward requires.
   */
  min_watch_ms?: number;
  close_after_ms?: number;
  /**
   * Signed by the service; required in every event of this decision.
   */
  token?: string;
  /**
   * When the service decided.
   */
  issued_at: string;
  /**
   * When the decision expires; the ad may not be shown after that.
   */
  expires_at: string;
  /**
   * Sandbox only.
   */
  explain?: Explanation[];
}
/**
 * Something that happened to a shown ad.
 */
export interface AdEvent {
  /**
   * Generated by the client; events with the same id are counted only once.
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
   * How long the ad has played so far while the page was visible.
   */
  watched_ms?: number;
  /**
   * The visible fraction of the ad, and how long it has been visible without interruption.
   */
  visible?: {
    ratio: number;
    ms: number;
  };
  detail?: string;
}
/**
 * A batch of events from one device.
 */
export interface EventBatch {
  /**
   * When the request was sent, by the client’s clock; used to correct clock skew.
   */
  sent_at: string;
  /**
   * @minItems 1
   * @maxItems 500
   */
  events: AdEvent[];
  /**
   * Events that the device has dropped since its last report, by reason.
   */
  dropped?: {
    [k: string]: number;
  };
}
/**
 * The result for one event.
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
 * One result per event, so that an invalid event never blocks the others.
 */
export interface EventBatchResult {
  results: EventResult[];
  /**
   * The reward of every decision that the batch affected.
   */
  decisions: RewardStatus[];
}
/**
 * Registers a webhook.
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
 * A webhook endpoint and its settings.
 */
export interface Webhook {
  /**
   * An id with the prefix `whk_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the object was created.
   */
  created_at: string;
  /**
   * When the object was last changed.
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
   * A `failing` webhook is probed once an hour, and enabled when it responds; webhooks that were disabled for another reason are not.
   */
  disabled_reason?: 'gone' | 'failing' | 'operator';
  /**
   * When the webhook was disabled.
   */
  disabled_at?: string;
  /**
   * The webhook secret; returned only on creation and rotation.
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
   * When the event was created.
   */
  created_at: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
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
     * The customer’s own id for the player: 1 to 128 printable ASCII characters, returned unchanged.
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
   * When the event was created.
   */
  created_at: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
     */
    placement: string;
    /**
     * The customer’s own id for the player: 1 to 128 printable ASCII characters, returned unchanged.
     */
    user_ref: string;
    reward: Reward;
    /**
     * The kind of proof that the ad was watched. `verified`: the SDK showed the ad, and the service itself judged the impression and the watch time. More values may follow.
     */
    evidence?: string;
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
   * When the event was created.
   */
  created_at: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  data: {
    /**
     * An id with the prefix `dec_`.
     */
    decision_id: string;
    /**
     * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
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
     * The customer’s own id for the player: 1 to 128 printable ASCII characters, returned unchanged.
     */
    user_ref?: string;
  };
}
/**
 * A creative’s review status has changed.
 */
export interface CreativeReviewUpdatedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'creative.review_updated';
  /**
   * When the event was created.
   */
  created_at: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
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
 * A kill switch has been turned on or off.
 */
export interface KillSwitchChangedEvent {
  /**
   * An id with the prefix `evt_`.
   */
  id: string;
  type: 'kill_switch.changed';
  /**
   * When the event was created.
   */
  created_at: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
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
 * An error (RFC 9457).
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
     * JSON Pointer (RFC 6901) to the field.
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
   * Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  name: string;
  format: 'rewarded' | 'interstitial' | 'banner';
  reward?: Reward;
  frequency_cap?: FrequencyCap;
  /**
   * Minimum time between two verified impressions for the same player.
   */
  cooldown_s?: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms?: number;
  /**
   * The latest time at which the close button appears.
   */
  close_after_ms?: number;
  /**
   * How long after the decision an offline completion is still accepted.
   */
  late_window_s?: number;
  /**
   * What proves who the player is: nothing, a user token, or a decision requested by the customer’s server. Absent: `none`.
   */
  identity?: 'none' | 'user_token' | 'server';
  status?: 'active' | 'paused';
}
/**
 * Changes: Placement. A field replaces the stored one; `null` removes it.
 */
export interface PlacementUpdate {
  reward?: Reward | null;
  frequency_cap?: FrequencyCap | null;
  /**
   * Minimum time between two verified impressions for the same player.
   */
  cooldown_s?: number;
  /**
   * How long an image or HTML creative is shown before it counts as watched.
   */
  min_view_ms?: number;
  /**
   * The latest time at which the close button appears.
   */
  close_after_ms?: number;
  /**
   * How long after the decision an offline completion is still accepted.
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
  /**
   * Ads that you upload (`house`, `direct`), a VAST ad tag, or an OpenRTB bidder.
   */
  kind: 'house' | 'direct' | 'vast' | 'openrtb';
  /**
   * `vast`: the ad tag, an https URL. VAST 4 macros, such as `[CACHEBUSTING]`, are expanded in every request.
   */
  tag_url?: string;
  /**
   * `openrtb`: the bidder’s https URL.
   */
  endpoint_url?: string;
  /**
   * `openrtb`: the OpenRTB version that the bidder expects; default 2.6.
   */
  ortb_version?: '2.5' | '2.6';
  /**
   * `openrtb`: merged into every bid request, such as `{"ext":{"prebid":{"storedrequest":{"id":"…"}}}}` for a Prebid Server; at most 16,384 bytes of JSON.
   */
  ext?: {
    [k: string]: unknown;
  };
  /**
   * `openrtb`: your publisher id with the bidder, sent as `site.publisher.id`.
   */
  publisher_id?: string;
  /**
   * `openrtb`: every party that handles the payment for an impression before the bidder, starting with you; sent as a complete `source.schain` with `hp: 1` in every node.
   *
   * @minItems 1
   * @maxItems 32
   */
  supply_chain?: {
    /**
     * The advertising system’s domain, in lowercase.
     */
    asi: string;
    /**
     * The seller’s id in that system.
     */
    sid: string;
  }[];
  /**
   * `vast` and `openrtb`: the rewarded and interstitial placements that the source may fill. If absent, it fills none.
   *
   * @maxItems 100
   *
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * `vast` and `openrtb`: 1 is requested first; the same scale as for house ads. Default 5.
   */
  priority?: number;
  /**
   * `vast`: what a thousand verified impressions are worth, in millionths of `currency`; default 0. Determines the order of sources with the same priority and counts as revenue.
   */
  cpm_micros?: number;
  /**
   * `openrtb`: the lowest accepted price per thousand impressions, in millionths of `currency`; default 0.
   */
  floor_micros?: number;
  /**
   * `vast` and `openrtb`: ISO 4217; default `USD`.
   */
  currency?: string;
  /**
   * `vast` and `openrtb`: how long the source may take, including wrappers; default 1,000.
   */
  timeout_ms?: number;
  /**
   * `vast` and `openrtb`: `automatic` approves new creatives of the advertisers in `allowed_domains`; default `manual`.
   */
  review?: 'manual' | 'automatic';
  /**
   * `review: automatic`: advertiser domains, including their subdomains.
   *
   * @maxItems 1000
   */
  allowed_domains?: string[];
  /**
   * `vast` and `openrtb`: when impression trackers are requested; default `verified`. `burl` always waits for the verified impression.
   */
  impression_on?: 'verified' | 'rendered';
  /**
   * `vast` and `openrtb`: how long after the decision trackers are requested; default 1,800. Trackers that become due later are only counted.
   */
  tracking_window_s?: number;
  /**
   * `vast` and `openrtb`: whether the source accepts child-directed requests. By default, it does not, and receives none.
   */
  child_directed?: boolean;
  /**
   * `vast` and `openrtb`: which headers pass the player’s IP and browser to trackers: `iab` (default) sends `X-Device-IP` and `X-Device-User-Agent`, `forwarded` sends `X-Forwarded-For` and `User-Agent`.
   */
  header_profile?: 'iab' | 'forwarded';
  /**
   * `vast` and `openrtb`: the lines that the source requires in the site’s `ads.txt`; `trueward-service doctor` checks for these lines, and for the sellers in `publisher_id` and `supply_chain`.
   */
  ads_txt?: {
    /**
     * The root domain of the site with the game.
     */
    domain: string;
    /**
     * @minItems 1
     * @maxItems 500
     */
    lines: string[];
  };
  status?: 'active' | 'paused';
  /**
   * `vast` and `openrtb`: HTTP headers that the service sends with every request, such as an API key. They replace the stored headers, are stored encrypted, and are never returned.
   */
  request_headers?: {
    [k: string]: string;
  };
}
/**
 * Changes: Source. A field replaces the stored one; `null` removes it.
 */
export interface SourceUpdate {
  name?: string;
  tag_url?: string | null;
  endpoint_url?: string | null;
  ortb_version?: ('2.5' | '2.6') | null;
  ext?: {
    [k: string]: unknown;
  } | null;
  publisher_id?: string | null;
  supply_chain?:
    | {
        /**
         * The advertising system’s domain, in lowercase.
         */
        asi: string;
        /**
         * The seller’s id in that system.
         */
        sid: string;
      }[]
    | null;
  placements?: string[] | null;
  priority?: number | null;
  cpm_micros?: number | null;
  floor_micros?: number | null;
  currency?: string | null;
  timeout_ms?: number | null;
  review?: ('manual' | 'automatic') | null;
  allowed_domains?: string[] | null;
  impression_on?: ('verified' | 'rendered') | null;
  tracking_window_s?: number | null;
  child_directed?: boolean | null;
  header_profile?: ('iab' | 'forwarded') | null;
  ads_txt?: {
    /**
     * The root domain of the site with the game.
     */
    domain: string;
    /**
     * @minItems 1
     * @maxItems 500
     */
    lines: string[];
  } | null;
  status?: 'active' | 'paused';
  request_headers?: {
    [k: string]: string;
  } | null;
}
/**
 * Creates: Advertiser.
 */
export interface AdvertiserRequest {
  name: string;
  domain: string;
  /**
   * IAB Content Taxonomy ids.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Changes: Advertiser. A field replaces the stored one; `null` removes it.
 */
export interface AdvertiserUpdate {
  name?: string;
  domain?: string;
  /**
   * IAB Content Taxonomy ids.
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
   * Alternative text for players who cannot see the ad.
   */
  alt: string;
  /**
   * IAB Content Taxonomy ids.
   *
   * @maxItems 50
   */
  categories?: string[];
}
/**
 * Changes: Creative. A field replaces the stored one; `null` removes it.
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
   * Alternative text for players who cannot see the ad.
   */
  alt?: string;
  /**
   * IAB Content Taxonomy ids.
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
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements: string[];
  /**
   * 1 is the highest; lower priorities are considered only when no higher one can serve.
   */
  priority?: number;
  /**
   * The share among house ads of the same priority.
   */
  weight?: number;
  /**
   * Not served before this time.
   */
  starts_at?: string;
  /**
   * Not served at or after this time.
   */
  ends_at?: string;
  /**
   * Maximum number of verified impressions per UTC day.
   */
  daily_cap?: number;
  status?: 'active' | 'paused';
}
/**
 * Changes: HouseAd. A field replaces the stored one; `null` removes it.
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
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * 1 is the highest; lower priorities are considered only when no higher one can serve.
   */
  priority?: number;
  /**
   * The share among house ads of the same priority.
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
   * The placements to which the policy applies. If empty, it applies to all placements.
   *
   * @maxItems 100
   *
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * All of the specified conditions must match.
   */
  when?: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Only known for requests with a publishable key, and only if the operator has set `COUNTRY_HEADER`.
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
     * The request has at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What the policy blocks; at least one field is required.
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
     * Advertiser domains, including their subdomains.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * IAB Content Taxonomy ids.
     *
     * @maxItems 50
     */
    categories?: string[];
    formats?: ('video' | 'image' | 'html')[];
  };
  status?: 'active' | 'paused';
}
/**
 * Changes: Policy. A field replaces the stored one; `null` removes it.
 */
export interface PolicyUpdate {
  name?: string;
  kind?: 'policy' | 'commercial' | 'brand_safety';
  /**
   * The placements to which the policy applies. If empty, it applies to all placements.
   *
   * @maxItems 100
   *
   * Items: Lowercase letters, digits, hyphens and underscores, at most 64 characters.
   */
  placements?: string[];
  /**
   * All of the specified conditions must match.
   */
  when?: {
    /**
     * ISO 3166-1 alpha-2, such as `DE`. Only known for requests with a publishable key, and only if the operator has set `COUNTRY_HEADER`.
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
     * The request has at least one of these `segments`.
     *
     * @maxItems 500
     */
    segments?: string[];
  };
  /**
   * What the policy blocks; at least one field is required.
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
     * Advertiser domains, including their subdomains.
     *
     * @maxItems 500
     */
    domains?: string[];
    /**
     * IAB Content Taxonomy ids.
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
   * Who last changed the kill switch.
   */
  actor?: string;
  /**
   * When the kill switch turns off by itself.
   */
  expires_at?: string;
}
/**
 * Changes: KillSwitch. A field replaces the stored one; `null` removes it.
 */
export interface KillSwitchUpdate {
  state?: 'on' | 'off';
  reason?: string | null;
  /**
   * Who last changed the kill switch.
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
 * Sends a test event.
 */
export interface WebhookTest {
  /**
   * If absent, the first type that the webhook subscribes to.
   */
  type?:
    | 'decision.served'
    | 'decision.rewarded'
    | 'policy.blocked'
    | 'creative.review_updated'
    | 'kill_switch.changed';
}
/**
 * An HTTP request of a delivery.
 */
export interface DeliveryAttempt {
  attempt: number;
  /**
   * When the request was sent.
   */
  started_at: string;
  latency_ms: number;
  /**
   * The HTTP status. Absent if there was no response.
   */
  status?: number;
  /**
   * Why there was no response.
   */
  error?: string;
  /**
   * The first KiB of the response.
   */
  response?: string;
}
/**
 * The delivery of one event to one webhook.
 */
export interface Delivery {
  /**
   * An id with the prefix `del_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
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
   * When the next attempt is due. Present only while the delivery is pending.
   */
  next_attempt_at?: string;
  /**
   * When the delivery was queued.
   */
  created_at: string;
}
/**
 * The result of a recovery.
 */
export interface RecoveryResult {
  queued: number;
}
/**
 * An API key; the key itself is not stored.
 */
export interface ApiKey {
  /**
   * An id with the prefix `key_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  kind: 'publishable' | 'secret';
  /**
   * The last four characters of the key.
   */
  last_four: string;
  allowed_origins: string[];
  /**
   * The rate limit for the key. If absent, the service’s default applies.
   */
  rate_limit?: {
    /**
     * Requests per second.
     */
    per_s: number;
    /**
     * Maximum burst of requests.
     */
    burst: number;
  };
  /**
   * When the key was created.
   */
  created_at: string;
  /**
   * When the key was last used, to within about ten seconds.
   */
  last_used_at?: string;
  /**
   * When the key stops working, which can be in the future.
   */
  revoked_at?: string;
  /**
   * When a web page last used this secret key. Replace the key.
   */
  leaked_at?: string;
  /**
   * The origin of that page.
   */
  leaked_to?: string;
  /**
   * The key itself; returned only on creation.
   */
  key?: string;
}
/**
 * Creates a key in the same environment.
 */
export interface ApiKeyRequest {
  kind: 'publishable' | 'secret';
  /**
   * Origins that may use a publishable key; `*` means any origin.
   *
   * @minItems 1
   * @maxItems 100
   */
  allowed_origins?: string[];
  /**
   * The rate limit for the key. If absent, the service’s default applies.
   */
  rate_limit?: {
    /**
     * Requests per second.
     */
    per_s: number;
    /**
     * Maximum burst of requests.
     */
    burst: number;
  };
}
/**
 * Changes the allowed origins and the rate limit of a key.
 */
export interface ApiKeyUpdate {
  /**
   * Origins that may use a publishable key; `*` means any origin.
   *
   * @minItems 1
   * @maxItems 100
   */
  allowed_origins?: string[];
  /**
   * `null` restores the service’s default.
   */
  rate_limit?: {
    /**
     * Requests per second.
     */
    per_s: number;
    /**
     * Maximum burst of requests.
     */
    burst: number;
  } | null;
}
/**
 * How long the old key or secret stays valid.
 */
export interface OverlapRequest {
  /**
   * In seconds; 0 revokes the old one immediately.
   */
  overlap_s: number;
}
/**
 * An audit record: one change by an operator.
 */
export interface AuditEntry {
  /**
   * An id with the prefix `aud_`.
   */
  id: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
  /**
   * When the change was made.
   */
  created_at: string;
  /**
   * The key’s id, the panel user’s e-mail address, `service`, or `command_line`.
   */
  actor: string;
  /**
   * The kind of change, such as `placement.updated`.
   */
  action: string;
  /**
   * The id of the changed object.
   */
  target_id: string;
  request_id?: string;
  /**
   * The object before the change. Absent if it was created.
   */
  before?: {
    [k: string]: unknown;
  };
  /**
   * The object after the change. Absent if it was removed.
   */
  after?: {
    [k: string]: unknown;
  };
}
/**
 * The totals of one period and group.
 */
export interface ReportRow {
  /**
   * The start of the period.
   */
  period: string;
  /**
   * Present if the report is grouped by this dimension; an empty string means that there is no value.
   */
  placement?: string;
  /**
   * Present if the report is grouped by this dimension; an empty string means that there is no value.
   */
  creative?: string;
  /**
   * Present if the report is grouped by this dimension; an empty string means that there is no value.
   */
  source?: string;
  /**
   * Present if the report is grouped by this dimension; an empty string means that there is no value.
   */
  advertiser?: string;
  /**
   * Present if the report is grouped by this dimension; an empty string means that there is no value.
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
  source_requests: number;
  source_bids: number;
  source_wins: number;
  source_timeouts: number;
  source_errors: number;
  trackers_sent: number;
  trackers_failed: number;
  trackers_late: number;
  revenue_micros: number;
  /**
   * Counts by reason; revenue by currency.
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
    trackers_failed: {
      [k: string]: number;
    };
    revenue_micros: {
      [k: string]: number;
    };
  };
  /**
   * `filled` divided by `requests`. Absent if the divisor is zero.
   */
  fill_rate?: number;
  /**
   * `impressions` divided by `filled`. Absent if the divisor is zero.
   */
  view_through_rate?: number;
  /**
   * `completes` divided by `starts`. Absent if the divisor is zero.
   */
  completion_rate?: number;
}
/**
 * Totals by period and group.
 */
export interface Report {
  /**
   * Inclusive.
   */
  from: string;
  /**
   * Exclusive.
   */
  to: string;
  interval: 'hour' | 'day';
  /**
   * The time zone in which days begin.
   */
  tz: string;
  data: ReportRow[];
}
/**
 * Creates a user token secret.
 */
export interface UserTokenSecretRequest {
  /**
   * How long older secrets stay valid, in seconds.
   */
  overlap_s: number;
}
/**
 * The secret with which the customer’s server signs user tokens (HS256; the entire string is the key).
 */
export interface UserTokenSecret {
  /**
   * `utk_<environment>_…`; returned only once.
   */
  secret: string;
  /**
   * Sandbox credentials create only test data; live credentials act on real inventory.
   */
  environment: 'sandbox' | 'live';
}
