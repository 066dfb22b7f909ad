import type { Queries } from '../src/store/database.ts';

/** Adds an account without anything, unless it exists: rows of an account are only stored if it does. */
export async function addAccount(queries: Queries, accountId: string): Promise<void> {
  await queries.query(
    `INSERT INTO accounts (account_id, name, created_at) VALUES ($1, 'Test', now()) ON CONFLICT DO NOTHING`,
    [accountId],
  );
}
