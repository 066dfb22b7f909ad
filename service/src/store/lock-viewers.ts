import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from './database.ts';
import { forAccount } from './unnest.ts';

const dayMs = 86_400_000;

/**
 * Locks the players' rows, so that only one transaction at a time decides on a player's rewards or changes the player's
 * wallet. `ON CONFLICT` locks a row even if its WHERE clause prevents the update. Each row is updated at most once a
 * day, because every update writes a new row version.
 */
export async function lockViewers(
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: string[],
  nowMs: number,
): Promise<void> {
  if (viewers.length === 0) return;
  await queries.execute(
    `INSERT INTO viewers (account_id, environment, viewer, seen_at)
      ${forAccount('$2, unnest($3::text[]), $4::timestamptz')}
      ON CONFLICT (account_id, environment, viewer) DO UPDATE SET seen_at = excluded.seen_at
        WHERE viewers.seen_at < $5::timestamptz`,
    // Locks are acquired in the same order everywhere, to avoid deadlocks.
    [
      accountId,
      environment,
      viewers.toSorted(),
      formatInstant(nowMs),
      formatInstant(nowMs - dayMs),
    ],
  );
}
