/**
 * The external demand of decisions, and one row in `tracker_requests` for each URL to request, which is a tracker or an
 * auction notice. `tracker` identifies the URL; for example, `impression/0` is the decision's first impression tracker.
 * Requests are queued by `host`, and `place` is a request's position among the decision's requests to that host. Until
 * the request has been made, `client` contains the player's encrypted IP and User-Agent.
 *
 * The free space on each page is for the new versions of leased rows, as in `deliveries`.
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
 * External creatives, which are compared daily with the files that they were copied from. `sha256` is the hash of the
 * file at the last comparison. `due_at` is also the lease of the process that compares it.
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
 * When the source last offered a creative, accurate to a day. Null if it never has. Creatives that are no longer
 * offered are archived.
 */
export const lastOffers = {
  name: '0175-last-offers',
  statements: ['ALTER TABLE creative_origins ADD COLUMN offered_at timestamptz'],
} as const;
