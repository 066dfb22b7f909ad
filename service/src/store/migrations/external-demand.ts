/**
 * Each decision's external demand, and the requests for its trackers and auction notices. Each row in
 * `tracker_requests` is one request. `tracker` identifies the request's URL; for example, `impression/0` is the
 * decision's first impression tracker. There is one queue per `host`. `place` is the position of a request among the
 * decision's requests to its host. `client` contains the player's encrypted IP and User-Agent until the request is
 * made.
 *
 * The free space on each page is for new versions of leased rows, as in `deliveries`.
 */
export const trackers = {
  name: '0160-trackers',
  statements: [
    `CREATE TABLE decision_demand (
      account_id text NOT NULL,
      decision_id text COLLATE "C" NOT NULL,
      demand jsonb NOT NULL,
      PRIMARY KEY (account_id, decision_id)) PARTITION BY RANGE (decision_id)`,
    'CREATE TABLE decision_demand_other PARTITION OF decision_demand DEFAULT',
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
  ],
} as const;

/**
 * Where external creatives came from. Every day, each creative is compared with the file from which it was copied.
 * `sha256` is the file's hash at the last comparison. `due_at` is the time of the next comparison. While a process
 * holds a lease on the comparison, `due_at` is the time at which the lease expires.
 */
export const creativeOrigins = {
  name: '0170-creative-origins',
  statements: [
    `CREATE TABLE creative_origins (
      account_id text NOT NULL,
      environment text NOT NULL,
      source_id text NOT NULL,
      creative_id text NOT NULL,
      sha256 text NOT NULL,
      due_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, creative_id))`,
    'CREATE INDEX creative_origins_due ON creative_origins (due_at)',
  ],
} as const;

/**
 * When the source last offered a creative, accurate to the day. Null if unknown. Creatives that are no longer offered
 * are archived.
 */
export const lastOffers = {
  name: '0175-last-offers',
  statements: ['ALTER TABLE creative_origins ADD COLUMN offered_at timestamptz'],
} as const;
