import type { WalletEntry } from '@trueward/protocol/wire';
import type { Queries, Scope } from '../store/database.ts';

interface EntryRow extends Omit<WalletEntry, 'duration_s' | 'reason' | 'at'> {
  duration_s: number | null;
  reason: string | null;
  at: Date;
}

/** Lists a player's entries, newest first. Returns `limit` + 1 entries if there is another page. */
export async function listEntries(
  queries: Queries,
  { accountId, environment }: Scope,
  viewer: string,
  { limit, before }: { limit: number; before: number },
): Promise<WalletEntry[]> {
  const rows = await queries.query<EntryRow>(
    `SELECT id, kind, type, delta, duration_s, reason, balance, version, at FROM wallet_entries
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND version < $4 ORDER BY version DESC LIMIT $5`,
    [accountId, environment, viewer, before, limit + 1],
  );
  return rows.map(({ duration_s, reason, at, ...row }) => ({
    ...row,
    ...(duration_s === null ? {} : { duration_s }),
    ...(reason === null ? {} : { reason }),
    at: at.toISOString(),
  }));
}
