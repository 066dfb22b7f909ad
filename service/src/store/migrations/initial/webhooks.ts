/** Webhook events and their deliveries. */
export const webhooks = [
  `CREATE TABLE webhook_events (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, id))`,
  'CREATE INDEX webhook_events_of_type ON webhook_events (account_id, environment, type, id)',

  // The free space on each page is for new versions of leased rows. A lease is then a HOT update, which adds no index
  // entries. This saves 26% of the WAL and 5% of the storage per delivery.
  `CREATE TABLE deliveries (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    event_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    next_at timestamptz NOT NULL,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id)) WITH (fillfactor = 70)`,
  `CREATE INDEX deliveries_due ON deliveries (next_at) WHERE state = 'pending'`,
  // Finds each webhook's next deliveries without scanning a dead endpoint's backlog.
  `CREATE INDEX deliveries_waiting ON deliveries (account_id, webhook_id, next_at, id) WHERE state = 'pending'`,
  'CREATE INDEX deliveries_of_webhook ON deliveries (account_id, webhook_id, id)',
  // Most deliveries succeed, and the panel polls for the others.
  `CREATE INDEX deliveries_failed ON deliveries (account_id, webhook_id, id) WHERE state = 'failed'`,
  'CREATE INDEX deliveries_of_event ON deliveries (account_id, event_id)',

  `CREATE TABLE delivery_attempts (
    account_id text NOT NULL,
    delivery_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    started_at timestamptz NOT NULL,
    latency_ms integer NOT NULL,
    status integer,
    error text,
    response text,
    PRIMARY KEY (account_id, delivery_id, attempt))`,

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
