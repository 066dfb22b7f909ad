/**
 * Outside creatives, for the daily comparison with the file that they were copied from: `sha256` is that of the
 * file as it was last seen. `due_at` is also the lease of the process that compares it.
 */
export const creativeOrigins = {
  name: '0170-creative-origins',
  statements: [
    `CREATE TABLE creative_origins (
      account_id text NOT NULL,
      environment text NOT NULL,
      source_id text NOT NULL,
      creative_id text NOT NULL,
      sha256 text NOT NULL,
      due_at timestamptz NOT NULL,
      PRIMARY KEY (account_id, creative_id))`,
    'CREATE INDEX creative_origins_due ON creative_origins (due_at)',
  ],
} as const;
