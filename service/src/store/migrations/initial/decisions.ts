/**
 * Decisions and what belongs to them.
 *
 * They are stored in weekly partitions, which are dropped after the retention period. The time in the decision's id
 * determines the partition of all its rows. The default partitions hold rows whose week has no partition of its own.
 *
 * The constraints reject impossible values, as a safeguard against bugs.
 */
export const decisions = [
  // `reserved_ad` is the house ad whose daily cap the decision counts toward. `watch_offset_ms` is the clock offset
  // measured by the ad view's fastest request; with it, ad views are compared by the device's clock. `evidence` is what
  // the reward rests on, if the service doesn't verify the ad view itself.
  `CREATE TABLE decisions (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    status text NOT NULL,
    reason text,
    placement text NOT NULL,
    format text NOT NULL,
    creative_id text COLLATE "C",
    media_format text,
    advertiser_id text COLLATE "C",
    source_id text COLLATE "C",
    house_ad_id text COLLATE "C",
    reserved_ad text COLLATE "C",
    user_ref text,
    viewer text COLLATE "C",
    child_directed boolean NOT NULL DEFAULT false,
    custom_data text,
    reward jsonb,
    required_ms integer,
    evidence text,
    simulate text,
    invalid_reason text,
    explain jsonb,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    late_at timestamptz,
    served_at timestamptz,
    watch_from timestamptz,
    watch_to timestamptz,
    watch_offset_ms bigint,
    reward_state text NOT NULL,
    reward_reason text,
    settled_at timestamptz,
    PRIMARY KEY (account_id, environment, id),
    CONSTRAINT decisions_times CHECK (
      issued_at > '2000-01-02T00:00:00Z' AND expires_at >= issued_at AND late_at >= issued_at
      AND served_at >= issued_at AND settled_at >= issued_at
      AND watch_from >= issued_at AND watch_to >= watch_from),
    CONSTRAINT decisions_required CHECK (required_ms >= 0)) PARTITION BY RANGE (id)`,
  'CREATE TABLE decisions_other PARTITION OF decisions DEFAULT',
  // These indexes don't need the environment, because a player's pseudonym in `viewer` differs between environments.
  'CREATE INDEX decisions_of_viewer ON decisions (viewer, id) WHERE viewer IS NOT NULL',
  // Finds what must be deleted after 30 days.
  'CREATE INDEX decisions_of_children ON decisions (account_id, id) WHERE child_directed',
  // With the environment and in this order, a planner without statistics also prefers it to the primary key.
  'CREATE INDEX decisions_served ON decisions (viewer, environment, served_at) WHERE served_at IS NOT NULL',
  'CREATE INDEX decisions_watched ON decisions (viewer, watch_to) WHERE watch_to IS NOT NULL',
  `CREATE INDEX decisions_pending ON decisions (late_at) WHERE reward_state = 'pending'`,
  // Open reservations are counted twice a second.
  `CREATE INDEX decisions_reserved ON decisions (account_id, reserved_ad, id)
    WHERE reserved_ad IS NOT NULL AND served_at IS NULL`,

  // There is one row per player and environment. The row is locked while the service decides on one of the player's
  // rewards.
  `CREATE TABLE viewers (
    account_id text NOT NULL,
    environment text NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, viewer))`,

  // All of a decision's events, in one row. `reward/timeline.ts` describes the format. The free space on each page is
  // for later events: if the new version of a row fits on its page (HOT), no index entry is added.
  `CREATE TABLE timelines (
    account_id text NOT NULL,
    decision_id text COLLATE "C" NOT NULL,
    events text NOT NULL,
    PRIMARY KEY (account_id, decision_id)) PARTITION BY RANGE (decision_id)`,
  'CREATE TABLE timelines_other PARTITION OF timelines DEFAULT WITH (fillfactor = 50)',
  // Each event as a row, for the inspector and for operators.
  `CREATE VIEW recorded_events AS
    SELECT account_id, decision_id,
        CASE WHEN event ->> 0 LIKE '~%' THEN regexp_replace(list -> 1 ->> 0, '[^-]*$', '') || substr(event ->> 0, 2)
          ELSE event ->> 0 END AS id,
        jsonb '{"i": "impression", "v": "viewable", "s": "start", "1": "first_quartile", "2": "midpoint",
          "3": "third_quartile", "c": "complete", "k": "click", "x": "skip", "z": "close", "e": "error"}'
          ->> (event ->> 1) AS type,
        to_timestamp((first_ms + (event ->> 2)::bigint - (event ->> 3)::bigint) / 1000.0) AS occurred_at,
        to_timestamp((first_ms + (event ->> 2)::bigint) / 1000.0) AS received_at,
        (event ->> 4)::bigint AS offset_ms, coalesce(event ->> 5, '0') = '1' AS clamped,
        (event ->> 6)::integer AS watched_ms, (event ->> 7)::double precision AS visible_ratio,
        (event ->> 8)::integer AS visible_ms, event ->> 9 AS detail
      FROM timelines, LATERAL (SELECT events::jsonb AS list, (events::jsonb ->> 0)::bigint AS first_ms) AS parsed,
        jsonb_array_elements(list - 0) AS event`,

  // Each decision's external demand.
  `CREATE TABLE decision_demand (
    account_id text NOT NULL,
    decision_id text COLLATE "C" NOT NULL,
    demand jsonb NOT NULL,
    PRIMARY KEY (account_id, decision_id)) PARTITION BY RANGE (decision_id)`,
  'CREATE TABLE decision_demand_other PARTITION OF decision_demand DEFAULT',

  // The requests for a decision's trackers and auction notices, one per row. `tracker` identifies the request's URL;
  // for example, `impression/0` is the decision's first impression tracker. There is one queue per `host`. `place` is
  // the position of a request among the decision's requests to its host. `client` contains the player's encrypted IP
  // and User-Agent until the request is made. The free space on each page is for new versions of leased rows.
  `CREATE TABLE tracker_requests (
    account_id text NOT NULL,
    environment text NOT NULL,
    decision_id text COLLATE "C" NOT NULL,
    tracker text COLLATE "C" NOT NULL,
    host text NOT NULL,
    place integer NOT NULL,
    at_least_once boolean NOT NULL,
    state text NOT NULL,
    reason text,
    status integer,
    attempt integer NOT NULL,
    reached boolean NOT NULL,
    client text,
    next_at timestamptz NOT NULL,
    lease_until timestamptz,
    late_at timestamptz NOT NULL,
    CONSTRAINT tracker_requests_erased CHECK (state = 'pending' OR client IS NULL),
    PRIMARY KEY (account_id, decision_id, tracker)) PARTITION BY RANGE (decision_id)`,
  'CREATE TABLE tracker_requests_other PARTITION OF tracker_requests DEFAULT WITH (fillfactor = 70)',
  `CREATE INDEX tracker_requests_pending ON tracker_requests (account_id, host, next_at) WHERE state = 'pending'`,
] as const;
