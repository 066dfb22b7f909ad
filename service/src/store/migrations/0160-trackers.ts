/**
 * What a decision stored about outside demand, and one row for each URL that is requested because of it: trackers,
 * and the notices of an auction. A row of `tracker_requests` names its URL by `tracker` (`impression/0` is the first
 * impression tracker of the decision); `host` is the queue in which it waits, and `place` its order among those of
 * its decision and host. `client` is the sealed address and User-Agent of the player, until the request was made.
 *
 * The free space on each page is for the lease of a row, as for `deliveries`.
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
