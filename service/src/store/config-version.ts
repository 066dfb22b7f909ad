import type { Queries } from './database.ts';

/**
 * Causes every process to read the account's keys again, and the resources whose `version` is the new one. Returns the
 * new version. The account's configuration is locked until the transaction ends.
 */
export async function incrementConfigVersion(queries: Queries, accountId: string): Promise<number> {
  const [row] = await queries.query<{ version: number }>(
    `INSERT INTO config_versions (account_id, version) VALUES ($1, 1)
      ON CONFLICT (account_id) DO UPDATE SET version = config_versions.version + 1 RETURNING version`,
    [accountId],
  );
  return row?.version ?? 1;
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
