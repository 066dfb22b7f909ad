/**
 * Webhook events and their deliveries.
 *
 * A delivery is in `delivery_queue` until it is delivered or has failed for the last time, and then moves to
 * `finished_deliveries`. The queue therefore stays as small as what is due. Events and finished deliveries are stored in
 * weekly partitions, like decisions.
 */
export const webhooks = [
  `CREATE TABLE webhook_events (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    viewer text COLLATE "C",
    child_directed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, environment, id)) PARTITION BY RANGE (id)`,
  'CREATE TABLE webhook_events_other PARTITION OF webhook_events DEFAULT',
  'CREATE INDEX webhook_events_of_type ON webhook_events (account_id, environment, type, id)',

  // Find a player's events, whose bodies may be encrypted, and what must be deleted after 30 days.
  'CREATE INDEX webhook_events_of_viewer ON webhook_events (viewer, id) WHERE viewer IS NOT NULL',
  'CREATE INDEX webhook_events_of_children ON webhook_events (account_id, id) WHERE child_directed',

  // `attempts` is a JSON array of the attempts, in the form in which the API returns them. The free space on each page
  // is for new versions of leased rows. A lease is then a HOT update, which adds no index entries. This saves 26% of the
  // WAL and 5% of the storage per delivery.
  `CREATE TABLE delivery_queue (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    attempts jsonb NOT NULL DEFAULT '[]',
    next_at timestamptz NOT NULL,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)) WITH (fillfactor = 70)`,
  'CREATE INDEX delivery_queue_due ON delivery_queue (next_at)',
  // Finds each webhook's next deliveries without scanning a dead endpoint's backlog.
  'CREATE INDEX delivery_queue_waiting ON delivery_queue (account_id, webhook_id, next_at, id)',
  'CREATE INDEX delivery_queue_of_webhook ON delivery_queue (account_id, webhook_id, id)',
  'CREATE INDEX delivery_queue_of_event ON delivery_queue (account_id, event_id)',

  `CREATE TABLE finished_deliveries (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    attempts jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)) PARTITION BY RANGE (id)`,
  'CREATE TABLE finished_deliveries_other PARTITION OF finished_deliveries DEFAULT',
  'CREATE INDEX finished_deliveries_of_webhook ON finished_deliveries (account_id, webhook_id, id)',
  // Most deliveries succeed, and the panel polls for the others.
  `CREATE INDEX finished_deliveries_failed ON finished_deliveries (account_id, webhook_id, id) WHERE state = 'failed'`,
  'CREATE INDEX finished_deliveries_of_event ON finished_deliveries (account_id, event_id)',
  `CREATE VIEW deliveries AS
    SELECT account_id, id, environment, event_id, webhook_id, 'pending' AS state, attempts, next_at, created_at
      FROM delivery_queue
      UNION ALL
    SELECT account_id, id, environment, event_id, webhook_id, state, attempts, NULL AS next_at, created_at
      FROM finished_deliveries`,

  // There is one row per webhook whose last attempt failed. `probed_at` is when a disabled webhook was last probed. A
  // process claims the next probe by updating this time.
  `CREATE TABLE webhook_failures (
    account_id text NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    attempts integer NOT NULL,
    probed_at timestamptz,
    PRIMARY KEY (account_id, webhook_id))`,
] as const;
