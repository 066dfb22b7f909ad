/** Keys, secrets and the panel's users. */
export const access = [
  // `game_id` is the part of a publishable key that stays when the key is rolled. Null for secret keys.
  // `misplaced_at` and `misplaced_origin`: the last use on a page that belongs to the other environment.
  // `findings`: what stood out in how the game names its players, and when it did last.
  // `rate_limit` is the key's own limit, such as `{"per_s": 100, "burst": 500}`.
  `CREATE TABLE keys (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
    environment text NOT NULL,
    kind text NOT NULL,
    hash text NOT NULL,
    last_four text NOT NULL,
    allowed_origins jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    last_used_at timestamptz,
    leaked_at timestamptz,
    leaked_to text,
    game_id text,
    rate_limit jsonb,
    name text,
    publishable_text text,
    misplaced_at timestamptz,
    misplaced_origin text,
    findings jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (account_id, id))`,

  // Secrets of the service and its webhooks, encrypted with the master key.
  `CREATE TABLE secrets (
    account_id text NOT NULL,
    purpose text NOT NULL,
    id text COLLATE "C" NOT NULL,
    sealed text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (account_id, purpose, id))`,

  `CREATE TABLE users (
    account_id text NOT NULL,
    id text COLLATE "C" NOT NULL,
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

  // Finds the users with an e-mail address, because users don't specify an account when they sign in. A person has one
  // user in each account, with its own password, so no account learns of the others.
  `CREATE TABLE sign_in_names (
    account_id text NOT NULL,
    email text NOT NULL,
    user_account_id text NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, email, user_account_id))`,

  // An IP from which a user has signed in is known until `known_until`. It is not throttled when someone guesses
  // passwords from other IPs.
  `CREATE TABLE sign_in_attempts (
    account_id text NOT NULL,
    subject text COLLATE "C" NOT NULL,
    failures integer NOT NULL,
    locked_until timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    known_until timestamptz,
    PRIMARY KEY (account_id, subject))`,

  // `confirmed_at` is when the user last entered the password.
  `CREATE TABLE sessions (
    account_id text NOT NULL,
    hash text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    confirmed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, hash))`,
  'CREATE INDEX sessions_by_hash ON sessions (hash)',

  // A row without a user is the link with which the first owner signs up.
  `CREATE TABLE user_links (
    account_id text NOT NULL,
    hash text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, hash))`,
  'CREATE INDEX user_links_by_hash ON user_links (hash)',
] as const;
