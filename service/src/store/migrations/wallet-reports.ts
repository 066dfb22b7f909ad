/**
 * What users may give to players per day (UTC) in the panel, and what they have given on `day`. Without a row, they may
 * give nothing.
 */
export const grantBudgets = {
  name: '0002-grant-budgets',
  statements: [
    `CREATE TABLE grant_budgets (
      account_id text NOT NULL,
      environment text NOT NULL,
      type text NOT NULL,
      amount bigint NOT NULL,
      duration_s bigint NOT NULL,
      day date NOT NULL,
      used_amount bigint NOT NULL,
      used_duration_s bigint NOT NULL,
      PRIMARY KEY (account_id, environment, type))`,
  ],
} as const;

/** For reports of a period. Entries are added in the order of time, so a block range index costs a write next to nothing. */
export const walletEntriesByTime = {
  name: '0003-wallet-entries-by-time',
  indexes: [{ name: 'wallet_entries_by_time', table: 'wallet_entries', on: 'USING brin (at)' }],
} as const;
