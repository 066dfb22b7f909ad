/** Accounts and what their operators configure. */
export const configuration = [
  `CREATE TABLE accounts (
    account_id text PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL)`,

  `CREATE TABLE resources (
    account_id text NOT NULL,
    environment text NOT NULL,
    kind text NOT NULL,
    id text COLLATE "C" NOT NULL,
    document jsonb NOT NULL,
    revision integer NOT NULL,
    -- The size of the document, because measuring all of an account's documents takes a tenth of a second.
    bytes integer NOT NULL GENERATED ALWAYS AS (octet_length(document::text)) STORED,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    archived_at timestamptz,
    PRIMARY KEY (account_id, environment, kind, id))`,
  `CREATE INDEX resources_webhooks ON resources (account_id, id) WHERE kind = 'webhook'`,

  // Every change to keys or resources increments the version, which all processes poll.
  `CREATE TABLE config_versions (
    account_id text PRIMARY KEY,
    version bigint NOT NULL)`,

  `CREATE TABLE audit_entries (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    target_id text COLLATE "C" NOT NULL,
    request_id text,
    before jsonb,
    after jsonb,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id))`,
  'CREATE INDEX audit_entries_listed ON audit_entries (account_id, environment, id)',
  'CREATE INDEX audit_entries_of_target ON audit_entries (account_id, environment, target_id, id)',

  // Responses are encrypted, because some contain a secret.
  `CREATE TABLE idempotency_keys (
    account_id text NOT NULL,
    environment text NOT NULL,
    key text COLLATE "C" NOT NULL,
    request_hash text NOT NULL,
    status integer,
    answer text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, key))`,
  'CREATE INDEX idempotency_keys_age ON idempotency_keys (account_id, created_at)',

  // Accounts that upload the same file share one copy, for which there is a row of the service. Unused files are deleted.
  // A row of an account counts the file toward the account's quota.
  `CREATE TABLE uploads (
    account_id text NOT NULL,
    name text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    unused_since timestamptz,
    PRIMARY KEY (account_id, name))`,

  // Where external creatives came from. Every day, each creative is compared with the file from which it was copied.
  // `sha256` is the file's hash at the last comparison. `due_at` is the time of the next comparison. While a process
  // holds a lease on the comparison, `due_at` is the time at which the lease expires. `offered_at` is when the source
  // last offered the creative, accurate to the day, or null if unknown. Creatives that are no longer offered are
  // archived.
  `CREATE TABLE creative_origins (
    account_id text NOT NULL,
    environment text NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    creative_id text COLLATE "C" NOT NULL,
    sha256 text NOT NULL,
    due_at timestamptz NOT NULL,
    offered_at timestamptz,
    PRIMARY KEY (account_id, creative_id))`,
  'CREATE INDEX creative_origins_due ON creative_origins (due_at)',
] as const;
