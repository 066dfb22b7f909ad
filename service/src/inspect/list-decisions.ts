import type { Scope } from '../resource/scope.ts';
import type { Queries } from '../store/database.ts';

/** A decision in a list. */
interface ListedDecision {
  id: string;
  status: string;
  reason?: string;
  placement: string;
  issued_at: Date;
  user_ref?: string;
  reward_state: string;
}

/** Decisions of one account and environment, newest first; one more than `limit` when there are more. */
export async function listDecisions(
  queries: Queries,
  { accountId, environment }: Scope,
  { limit, startingAfter }: { limit: number; startingAfter?: string },
): Promise<ListedDecision[]> {
  type Row = Omit<ListedDecision, 'reason' | 'user_ref'> & {
    reason: string | null;
    user_ref: string | null;
  };
  const rows = await queries.query<Row>(
    `SELECT id, status, reason, placement, issued_at, user_ref, reward_state FROM decisions
      WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [accountId, environment, startingAfter ?? null, limit + 1],
  );
  return rows.map(({ reason, user_ref, ...row }) => ({
    ...row,
    ...(reason === null ? {} : { reason }),
    ...(user_ref === null ? {} : { user_ref }),
  }));
}
