/**
 * The tables can be sharded by account: every primary key begins with `account_id`, and there are no other unique
 * indexes.
 *
 * Decisions and events are stored in weekly partitions, which are dropped after the retention period. An id begins with
 * its timestamp, which determines the partition. Events are partitioned by the id of their decision, so duplicates are
 * always in the same partition. Ids are compared byte by byte (`COLLATE "C"`), which is ten times as fast as a
 * locale-aware comparison.
 */
export const initial = {
  name: '0001-initial',
  statements: [
    `CREATE TABLE accounts (
      account_id text PRIMARY KEY,
      name text NOT NULL,
      created_at timestamptz NOT NULL)`,

    `CREATE TABLE keys (
      account_id text NOT NULL,
      id text NOT NULL,
      environment text NOT NULL,
      kind text NOT NULL,
      hash text NOT NULL,
      last_four text NOT NULL,
      allowed_origins jsonb NOT NULL,
      created_at timestamptz NOT NULL,
      revoked_at timestamptz,
      PRIMARY KEY (account_id, id))`,

    // Secrets of the service and its webhooks, encrypted with the master key.
    `CREATE TABLE secrets (
      account_id text NOT NULL,
      purpose text NOT NULL,
      id text NOT NULL,
      sealed text NOT NULL,
      created_at timestamptz NOT NULL,
      expires_at timestamptz,
      PRIMARY KEY (account_id, purpose, id))`,

    `CREATE TABLE resources (
      account_id text NOT NULL,
      environment text NOT NULL,
      kind text NOT NULL,
      id text NOT NULL,
      document jsonb NOT NULL,
      revision integer NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      archived_at timestamptz,
      PRIMARY KEY (account_id, environment, kind, id))`,

    // Every change to keys or resources increments the version, which all processes poll.
    `CREATE TABLE config_versions (
      account_id text PRIMARY KEY,
      version bigint NOT NULL)`,

    `CREATE TABLE decisions (
      account_id text NOT NULL,
      id text COLLATE "C" NOT NULL,
      environment text NOT NULL,
      status text NOT NULL,
      reason text,
      placement text NOT NULL,
      format text NOT NULL,
      creative_id text,
      media_format text,
      advertiser_id text,
      source_id text,
      house_ad_id text,
      user_ref text,
      viewer text COLLATE "C",
      custom_data text,
      reward jsonb,
      required_ms integer,
      simulate text,
      issued_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      late_at timestamptz,
      served_at timestamptz,
      watch_from timestamptz,
      watch_to timestamptz,
      reward_state text NOT NULL,
      reward_reason text,
      receipt text,
      settled_at timestamptz,
      PRIMARY KEY (account_id, id)) PARTITION BY RANGE (id)`,
    // The default partitions hold rows whose week has no partition of its own.
    'CREATE TABLE decisions_other PARTITION OF decisions DEFAULT',
    // The index doesn't need the environment, because a player's pseudonym in `viewer` differs between environments.
    'CREATE INDEX decisions_served ON decisions (viewer, placement, served_at) WHERE served_at IS NOT NULL',
    'CREATE INDEX decisions_watched ON decisions (viewer, watch_to) WHERE watch_to IS NOT NULL',
    `CREATE INDEX decisions_pending ON decisions (late_at) WHERE reward_state = 'pending'`,

    // There is one row per player and environment. The row is locked while the service decides on one of the player's
    // rewards.
    `CREATE TABLE viewers (
      account_id text NOT NULL,
      environment text NOT NULL,
      viewer text NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, environment, viewer))`,

    `CREATE TABLE ad_events (
      account_id text NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      type text NOT NULL,
      occurred_at timestamptz NOT NULL,
      received_at timestamptz NOT NULL,
      clamped boolean NOT NULL,
      watched_ms integer,
      visible_ratio double precision,
      visible_ms integer,
      detail text,
      PRIMARY KEY (account_id, decision_id, id)) PARTITION BY RANGE (decision_id)`,
    'CREATE TABLE ad_events_other PARTITION OF ad_events DEFAULT',

    `CREATE TABLE webhook_events (
      account_id text NOT NULL,
      id text NOT NULL,
      environment text NOT NULL,
      type text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, id))`,

    `CREATE TABLE deliveries (
      account_id text NOT NULL,
      id text NOT NULL,
      environment text NOT NULL,
      event_id text NOT NULL,
      webhook_id text NOT NULL,
      state text NOT NULL,
      attempt integer NOT NULL,
      next_at timestamptz NOT NULL,
      lease_until timestamptz,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, id))`,
    `CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending'`,

    `CREATE TABLE delivery_attempts (
      account_id text NOT NULL,
      delivery_id text NOT NULL,
      attempt integer NOT NULL,
      started_at timestamptz NOT NULL,
      latency_ms integer NOT NULL,
      status integer,
      error text,
      response text,
      PRIMARY KEY (account_id, delivery_id, attempt))`,

    `CREATE TABLE rollups (
      account_id text NOT NULL,
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
      PRIMARY KEY (account_id, environment, hour, placement, creative_id, source_id,
        advertiser_id, house_ad_id, metric, reason))`,
  ],
} as const;
