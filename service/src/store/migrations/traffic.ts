/** Adds the invalid-traffic reason to decisions, and the clock offset to events. */
export const traffic = {
  name: '0020-traffic',
  statements: [
    `ALTER TABLE decisions ADD COLUMN invalid_reason text`,
    `ALTER TABLE ad_events ADD COLUMN offset_ms bigint`,
    `CREATE INDEX decisions_of_viewer ON decisions (viewer, id) WHERE viewer IS NOT NULL AND status = 'filled'`,
  ],
} as const;

/** Tables through which processes coordinate: claimed chores, archived weeks, and rate-limit usage. */
export const upkeep = {
  name: '0040-upkeep',
  statements: [
    // A process claims a chore by updating `begun_at`.
    `CREATE TABLE chores (
      account_id text NOT NULL,
      name text NOT NULL,
      begun_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // The tallies of archive files. A week can be dropped if its tally in the database matches.
    `CREATE TABLE archived_weeks (
      account_id text NOT NULL,
      name text COLLATE "C" NOT NULL,
      rows bigint NOT NULL,
      checksum text NOT NULL,
      archived_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // The number of requests that each process has admitted. `name` is a hash of the limit's subject.
    `CREATE TABLE limit_uses (
      account_id text NOT NULL,
      process_id text NOT NULL,
      name text NOT NULL,
      uses bigint NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, process_id, name))`,
  ],
} as const;

/** Indexes that find each webhook's next deliveries without scanning a dead endpoint's backlog. */
export const deliveries = {
  name: '0060-deliveries',
  statements: [
    `CREATE INDEX deliveries_waiting ON deliveries (account_id, webhook_id, next_at, id) WHERE state = 'pending'`,
    `CREATE INDEX resources_webhooks ON resources (account_id, id) WHERE kind = 'webhook'`,
  ],
} as const;

/** When a disabled webhook was last probed. A process claims the next probe by updating this time. */
export const webhookProbes = {
  name: '0070-webhook-probes',
  statements: [`ALTER TABLE webhook_failures ADD COLUMN probed_at timestamptz`],
} as const;

/**
 * Constraints that reject impossible values, as a safeguard against bugs. They are `NOT VALID`, so they apply only to
 * new and updated rows. Checking all existing rows would lock large tables for minutes.
 */
export const plausibleTimes = {
  name: '0080-plausible-times',
  statements: [
    `ALTER TABLE decisions ADD CONSTRAINT decisions_times CHECK (
      issued_at > '2000-01-02T00:00:00Z' AND expires_at >= issued_at AND late_at >= issued_at
      AND served_at >= issued_at AND settled_at >= issued_at
      AND watch_from >= issued_at AND watch_to >= watch_from) NOT VALID`,
    `ALTER TABLE decisions ADD CONSTRAINT decisions_required CHECK (required_ms >= 0) NOT VALID`,
    `ALTER TABLE ad_events ADD CONSTRAINT ad_events_times CHECK (
      occurred_at > '2000-01-02T00:00:00Z' AND received_at >= occurred_at) NOT VALID`,
    `ALTER TABLE ad_events ADD CONSTRAINT ad_events_watched CHECK (
      watched_ms >= 0 AND visible_ms >= 0 AND visible_ratio BETWEEN 0 AND 1) NOT VALID`,
    `ALTER TABLE rollups ADD CONSTRAINT rollups_plausible CHECK (
      hour > '2000-01-02T00:00:00Z' AND count >= 0) NOT VALID`,
  ],
} as const;

/** The clock offset measured by an ad view's fastest request. Used to compare ad views by the device's clock. */
export const watchOffset = {
  name: '0081-watch-offset',
  statements: [`ALTER TABLE decisions ADD COLUMN watch_offset_ms bigint`],
} as const;

/** The house ad whose daily cap the decision counts toward. */
export const dailyReservations = {
  name: '0082-daily-reservations',
  statements: [`ALTER TABLE decisions ADD COLUMN reserved_ad text`],
} as const;

/** An index on open reservations, which are counted twice a second. */
export const dailyReservationsIndex = {
  name: '0083-daily-reservations-index',
  indexes: [
    {
      name: 'decisions_reserved',
      table: 'decisions',
      on: '(account_id, reserved_ad, id) WHERE reserved_ad IS NOT NULL AND served_at IS NULL',
    },
  ],
} as const;

/**
 * Counts that have not been folded into `rollups` yet. Transactions only insert rows here, so that they don't contend
 * for the same roll-up row. Every few seconds, a fold moves the rows to `rollups`. Reports read both tables through the
 * `rollup_counts` view. The previous release writes to `rollups` directly.
 *
 * The ids are random, because a sequence would start over after an import. Rows are deleted within seconds, so
 * autovacuum is triggered by a fixed number of deleted rows, regardless of the table's size.
 */
export const rollupDeltas = {
  name: '0120-rollup-deltas',
  statements: [
    `CREATE TABLE rollup_deltas (
      account_id text NOT NULL,
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      environment text NOT NULL,
      hour timestamptz NOT NULL,
      placement text NOT NULL,
      creative_id text NOT NULL,
      source_id text NOT NULL,
      advertiser_id text NOT NULL,
      house_ad_id text NOT NULL,
      metric text NOT NULL,
      reason text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (account_id, id),
      CONSTRAINT rollup_deltas_plausible CHECK (hour > '2000-01-02T00:00:00Z' AND count >= 0))
      WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
    `CREATE VIEW rollup_counts AS
      SELECT account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id,
          metric, reason, count FROM rollups
        UNION ALL
      SELECT account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id,
          metric, reason, count FROM rollup_deltas`,
  ],
} as const;

/**
 * Leaves space on each page for new versions of leased rows. A lease is then a HOT update, which adds no index entries.
 * This saves 26% of the WAL and 5% of the storage per delivery.
 */
export const deliverySpace = {
  name: '0130-delivery-space',
  statements: ['ALTER TABLE deliveries SET (fillfactor = 70)'],
} as const;

/**
 * Stores all of a decision's events in one row. With its index entry, a row with six events takes up 0.6 KB, whereas
 * six rows of `ad_events` take up 2.1 KB. The free space on each page is for later events. If the new version of a row
 * fits on its page (HOT), no index entry is added. `reward/timeline.ts` describes the format of `events`.
 *
 * The `recorded_events` view contains the events from both tables.
 */
export const timelines = {
  name: '0140-timelines',
  statements: [
    `CREATE TABLE timelines (
      account_id text NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      events text NOT NULL,
      PRIMARY KEY (account_id, decision_id)) PARTITION BY RANGE (decision_id)`,
    'CREATE TABLE timelines_other PARTITION OF timelines DEFAULT WITH (fillfactor = 40)',
    `CREATE VIEW recorded_events AS
      SELECT account_id, decision_id, id, type, occurred_at, received_at, coalesce(offset_ms, 0) AS offset_ms, clamped,
          watched_ms, visible_ratio, visible_ms, detail FROM ad_events
        UNION ALL
      SELECT account_id, decision_id, event ->> 0,
          jsonb '{"i": "impression", "v": "viewable", "s": "start", "1": "first_quartile", "2": "midpoint",
            "3": "third_quartile", "c": "complete", "k": "click", "x": "skip", "z": "close", "e": "error"}' ->> (event ->> 1),
          to_timestamp((first_ms + (event ->> 2)::bigint - (event ->> 3)::bigint) / 1000.0),
          to_timestamp((first_ms + (event ->> 2)::bigint) / 1000.0), (event ->> 4)::bigint,
          coalesce(event ->> 5, '0') = '1', (event ->> 6)::integer, (event ->> 7)::double precision,
          (event ->> 8)::integer, event ->> 9
        FROM timelines, LATERAL (SELECT events::jsonb AS list, (events::jsonb ->> 0)::bigint AS first_ms) AS parsed,
          jsonb_array_elements(list - 0) AS event`,
  ],
} as const;

/**
 * Supports shorter ids in timelines: if an id shares the first id's prefix, which ends at the last hyphen, a `~`
 * replaces that prefix. A timeline then grows to at most twice its initial size, so each page needs less free space.
 */
export const timelineIds = {
  name: '0141-timeline-ids',
  statements: [
    'ALTER TABLE timelines_other SET (fillfactor = 50)',
    `CREATE OR REPLACE VIEW recorded_events AS
      SELECT account_id, decision_id, id, type, occurred_at, received_at, coalesce(offset_ms, 0) AS offset_ms, clamped,
          watched_ms, visible_ratio, visible_ms, detail FROM ad_events
        UNION ALL
      SELECT account_id, decision_id,
          CASE WHEN event ->> 0 LIKE '~%' THEN regexp_replace(list -> 1 ->> 0, '[^-]*$', '') || substr(event ->> 0, 2)
            ELSE event ->> 0 END,
          jsonb '{"i": "impression", "v": "viewable", "s": "start", "1": "first_quartile", "2": "midpoint",
            "3": "third_quartile", "c": "complete", "k": "click", "x": "skip", "z": "close", "e": "error"}' ->> (event ->> 1),
          to_timestamp((first_ms + (event ->> 2)::bigint - (event ->> 3)::bigint) / 1000.0),
          to_timestamp((first_ms + (event ->> 2)::bigint) / 1000.0), (event ->> 4)::bigint,
          coalesce(event ->> 5, '0') = '1', (event ->> 6)::integer, (event ->> 7)::double precision,
          (event ->> 8)::integer, event ->> 9
        FROM timelines, LATERAL (SELECT events::jsonb AS list, (events::jsonb ->> 0)::bigint AS first_ms) AS parsed,
          jsonb_array_elements(list - 0) AS event`,
  ],
} as const;
