import type { Queries } from '../src/store/database.ts';

/** Adds an empty account if it does not exist. The service stores rows only for existing accounts. */
export async function addAccount(queries: Queries, accountId: string): Promise<void> {
  await queries.query(
    `INSERT INTO accounts (account_id, name, created_at) VALUES ($1, 'Test', now()) ON CONFLICT DO NOTHING`,
    [accountId],
  );
}
