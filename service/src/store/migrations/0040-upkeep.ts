/** What processes that share nothing else agree by: chores, archived weeks, and how much of a limit is used. */
export const upkeep = {
  name: '0040-upkeep',
  statements: [
    // Whoever moves the time on does the chore.
    `CREATE TABLE chores (
      account_id text NOT NULL,
      name text NOT NULL,
      begun_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // What a file was found to hold; a week is dropped only while it still holds the same.
    `CREATE TABLE archived_weeks (
      account_id text NOT NULL,
      name text COLLATE "C" NOT NULL,
      rows bigint NOT NULL,
      checksum text NOT NULL,
      archived_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, name))`,

    // Requests that a process let through, by a hash of what a limit counts.
    `CREATE TABLE limit_uses (
      account_id text NOT NULL,
      process_id text NOT NULL,
      name text NOT NULL,
      uses bigint NOT NULL,
      seen_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, process_id, name))`,
  ],
} as const;
