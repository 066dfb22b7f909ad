import type { Queries } from './database.ts';

/** Causes every process to reload the account's keys and resources. */
export async function incrementConfigVersion(queries: Queries, accountId: string): Promise<void> {
  await queries.query(
    `INSERT INTO config_versions (account_id, version) VALUES ($1, 1)
      ON CONFLICT (account_id) DO UPDATE SET version = config_versions.version + 1`,
    [accountId],
  );
}

/**
 * Locks the account's configuration until the transaction ends. Names, references and revisions therefore can't change
 * between the check and the write.
 */
export async function lockConfiguration(queries: Queries, accountId: string): Promise<void> {
  await queries.query(
    `INSERT INTO config_versions (account_id, version) VALUES ($1, 1)
      ON CONFLICT (account_id) DO UPDATE SET version = config_versions.version`,
    [accountId],
  );
}
