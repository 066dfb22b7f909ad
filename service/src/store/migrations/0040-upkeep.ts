/** How processes coordinate: claimed chores, archived weeks, and the usage of rate limits. */
export const upkeep = {
  name: '0040-upkeep',
  statements: [
    // The process that advances the time does the chore.
    `CREATE TABLE chores (
      account_id text NOT NULL,
      name text NOT NULL,
      begun_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // The tally of an archive file; a week is only dropped while its own tally is the same.
    `CREATE TABLE archived_weeks (
      account_id text NOT NULL,
      name text COLLATE "C" NOT NULL,
      rows bigint NOT NULL,
      checksum text NOT NULL,
      archived_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // Requests that a process admitted, by a hash of what the limit counts.
    `CREATE TABLE limit_uses (
      account_id text NOT NULL,
      process_id text NOT NULL,
      name text NOT NULL,
      uses bigint NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, process_id, name))`,
  ],
} as const;
