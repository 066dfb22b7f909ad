/** For operators: audit log, idempotent writes, key usage, webhook health. */
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

    // One row per webhook whose last attempt failed.
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
