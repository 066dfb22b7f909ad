import type { RewardVerdict } from '../reward/check-reward.ts';
import type { Queries } from '../store/database.ts';
import type { InvalidReason } from './check-traffic.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

/** Marks the impression as verified; false when it already was. */
export async function markServed(
  queries: Queries,
  accountId: string,
  id: string,
  atMs: number,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE decisions SET served_at = $3 WHERE account_id = $1 AND id = $2 AND served_at IS NULL RETURNING id`,
    [accountId, id, iso(atMs)],
  );
  return rows.length > 0;
}

/** Marks the decision as invalid traffic; false when it already was. */
export async function markInvalid(
  queries: Queries,
  accountId: string,
  id: string,
  reason: InvalidReason,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE decisions SET invalid_reason = $3 WHERE account_id = $1 AND id = $2 AND invalid_reason IS NULL RETURNING id`,
    [accountId, id, reason],
  );
  return rows.length > 0;
}

/** Moves the reward on; false when it is already in this state or a final one. */
export async function moveReward(
  queries: Queries,
  accountId: string,
  id: string,
  { state, reason, watch }: RewardVerdict,
  receipt: string | null,
  nowMs: number,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE decisions SET reward_state = $3, reward_reason = $4, receipt = $5, watch_from = $6, watch_to = $7, settled_at = $8
      WHERE account_id = $1 AND id = $2 AND reward_state IN ('none', 'pending') AND reward_state <> $3 RETURNING id`,
    [
      accountId,
      id,
      state,
      reason ?? null,
      receipt,
      watch ? iso(watch.fromMs) : null,
      watch ? iso(watch.toMs) : null,
      state === 'pending' ? null : iso(nowMs),
    ],
  );
  return rows.length > 0;
}
