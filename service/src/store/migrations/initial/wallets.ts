/**
 * Players' wallets. `viewer` is the player's pseudonym.
 *
 * The sum of a player's entries of one type is the balance. Entries are only added: they are deleted with the player.
 * All changes to a wallet happen while the player's row in `viewers` is locked.
 */
export const wallets = [
  // `id` is the id of the decision that earned the reward, the id that the spender chose, or the id of a grant. `version` numbers a
  // player's entries.
  `CREATE TABLE wallet_entries (
    account_id text NOT NULL,
    environment text NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    type text NOT NULL,
    delta bigint NOT NULL,
    duration_s integer,
    reason text,
    balance bigint NOT NULL,
    version bigint NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, viewer, id))`,

  // `version` is the version of the last entry. `active_until` is when a timed reward ends.
  `CREATE TABLE wallet_balances (
    account_id text NOT NULL,
    environment text NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    type text NOT NULL,
    balance bigint NOT NULL,
    active_until timestamptz,
    version bigint NOT NULL,
    PRIMARY KEY (account_id, environment, viewer, type),
    CONSTRAINT wallet_balances_range CHECK (balance BETWEEN 0 AND 9007199254740991))`,

  // The codes with which other devices become the same guest player. A player has one at a time.
  `CREATE TABLE link_codes (
    account_id text NOT NULL,
    environment text NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    player_ref text NOT NULL,
    hash text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, viewer))`,
  'CREATE INDEX link_codes_by_hash ON link_codes (hash)',

  // The devices of guest players. Only a token's hash is stored.
  `CREATE TABLE player_tokens (
    account_id text NOT NULL,
    environment text NOT NULL,
    hash text COLLATE "C" NOT NULL,
    player_ref text NOT NULL,
    viewer text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    used_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, environment, hash))`,
  'CREATE INDEX player_tokens_of_viewer ON player_tokens (viewer)',
  // Finds the players that have not played for a long time.
  'CREATE INDEX player_tokens_unused ON player_tokens (account_id, used_at)',
] as const;
