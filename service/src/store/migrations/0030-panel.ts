/** Panel users, and what the panel shows of keys and decisions. */
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

    // Users sign in without naming an account, so an e-mail address is unique in the whole service.
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

    // Without a user: the link of the first start, which creates the first owner.
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
