/** Tables for operators: audit log, idempotent writes, key usage, and webhook health. */
export const operators = {
  name: '0010-operators',
  statements: [
    'ALTER TABLE keys ADD COLUMN last_used_at timestamptz',

    `CREATE TABLE audit_entries (
      account_id text NOT NULL,
      id text NOT NULL,
      environment text NOT NULL,
      actor text NOT NULL,
      action text NOT NULL,
      target_id text NOT NULL,
      request_id text,
      before jsonb,
      after jsonb,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, id))`,

    // Responses are encrypted, because some contain a secret.
    `CREATE TABLE idempotency_keys (
      account_id text NOT NULL,
      environment text NOT NULL,
      key text NOT NULL,
      request_hash text NOT NULL,
      status integer,
      answer text,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, environment, key))`,
    'CREATE INDEX idempotency_keys_age ON idempotency_keys (account_id, created_at)',

    // There is one row per webhook whose last attempt failed.
    `CREATE TABLE webhook_failures (
      account_id text NOT NULL,
      webhook_id text NOT NULL,
      since timestamptz NOT NULL,
      attempts integer NOT NULL,
      PRIMARY KEY (account_id, webhook_id))`,
    'CREATE INDEX deliveries_of_webhook ON deliveries (account_id, webhook_id, id)',
    'CREATE INDEX deliveries_of_event ON deliveries (account_id, event_id)',
  ],
} as const;

/** Panel users, and columns for the panel. */
export const panel = {
  name: '0030-panel',
  statements: [
    `CREATE TABLE users (
      account_id text NOT NULL,
      id text NOT NULL,
      email text NOT NULL,
      name text NOT NULL,
      role text NOT NULL,
      password text,
      codes_secret text,
      codes_active boolean NOT NULL DEFAULT false,
      codes_step bigint NOT NULL DEFAULT 0,
      revision integer NOT NULL DEFAULT 1,
      created_at timestamptz NOT NULL,
      last_sign_in_at timestamptz,
      PRIMARY KEY (account_id, id))`,

    // E-mail addresses are unique across the service, because users don't specify an account when they sign in.
    `CREATE TABLE sign_in_names (
      account_id text NOT NULL,
      email text NOT NULL,
      user_account_id text NOT NULL,
      user_id text NOT NULL,
      PRIMARY KEY (account_id, email))`,

    `CREATE TABLE sign_in_attempts (
      account_id text NOT NULL,
      subject text NOT NULL,
      failures integer NOT NULL,
      locked_until timestamptz NOT NULL,
      last_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, subject))`,

    `CREATE TABLE sessions (
      account_id text NOT NULL,
      hash text NOT NULL,
      user_id text NOT NULL,
      seen_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, hash))`,
    'CREATE INDEX sessions_by_hash ON sessions (hash)',

    // A row without a user is the link with which the first owner signs up.
    `CREATE TABLE user_links (
      account_id text NOT NULL,
      hash text NOT NULL,
      user_id text,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, hash))`,
    'CREATE INDEX user_links_by_hash ON user_links (hash)',

    'ALTER TABLE keys ADD COLUMN leaked_at timestamptz, ADD COLUMN leaked_to text',
    'ALTER TABLE decisions ADD COLUMN explain jsonb',
  ],
} as const;

/** Decisions and events that processes share while a live tail is open. A row is needed for less than a minute. */
export const liveTail = {
  name: '0050-live-tail',
  statements: [
    `CREATE TABLE live_tails (
      account_id text NOT NULL,
      process_id text NOT NULL,
      until timestamptz NOT NULL,
      PRIMARY KEY (account_id, process_id))`,

    `CREATE TABLE live_lines (
      account_id text NOT NULL,
      process_id text NOT NULL,
      position bigint NOT NULL,
      event text NOT NULL,
      data text NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, process_id, position))`,
  ],
} as const;

/** Uploaded files. Unused files are deleted. */
export const uploads = {
  name: '0051-uploads',
  statements: [
    // Rows are not scoped to an account, because accounts that upload the same file share one copy.
    `CREATE TABLE uploads (
      account_id text NOT NULL,
      name text NOT NULL,
      unused_since timestamptz,
      PRIMARY KEY (account_id, name))`,
  ],
} as const;

/** A key's own rate limit, such as `{"per_s": 100, "burst": 500}`. */
export const keyLimits = {
  name: '0090-key-limits',
  statements: [`ALTER TABLE keys ADD COLUMN rate_limit jsonb`],
} as const;

/** The IPs from which a user has signed in. They are not throttled when someone guesses passwords from other IPs. */
export const knownAddresses = {
  name: '0110-known-addresses',
  statements: ['ALTER TABLE sign_in_attempts ADD COLUMN known_until timestamptz'],
} as const;
