/** Sandbox events that processes share while a live tail is open; obsolete within a minute. */
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
