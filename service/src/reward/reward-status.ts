import type { RewardStatus } from '@trueward/protocol/wire';
import type { Clock } from '../platform/clock.ts';
import type { Scope, Database } from '../store/database.ts';
import { describeReward } from './describe-reward.ts';
import type { Receipts } from './receipt.ts';
import type { RewardChanges } from './reward-changes.ts';

interface Parts {
  database: Database;
  changes: RewardChanges;
  clock: Pick<Clock, 'monotonicMs'>;
  receipts: Receipts;
}

/**
 * Reads the reward of a decision; undefined when there is no such decision. With `waitMs` it waits
 * for the state to change, unless it is final already; a change by another process is seen within a
 * second. `userRef` is whom a token names.
 */
export type ReadReward = (
  scope: Scope,
  id: string,
  waitMs: number,
  signal: AbortSignal,
  userRef?: string,
) => Promise<RewardStatus | undefined>;

export function createReadReward({ database, changes, clock, receipts }: Parts): ReadReward {
  const read = async (
    scope: Scope,
    id: string,
    userRef: string | undefined,
  ): Promise<RewardStatus | undefined> => {
    type Row = Omit<Parameters<typeof describeReward>[2], 'settledAtMs'>;
    const [row] = await database.query<Row & { settled_at: Date | null }>(
      `SELECT id, placement, settled_at, reward_state AS "rewardState", reward_reason AS "rewardReason", reward, receipt,
          user_ref AS "userRef" FROM decisions WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [scope.accountId, scope.environment, id],
    );
    if (!row) return undefined;
    const settledAtMs = row.settled_at?.getTime() ?? null;
    return describeReward(receipts, scope, { ...row, settledAtMs }, userRef);
  };
  return async (scope, id, waitMs, signal, userRef) => {
    const untilMs = clock.monotonicMs() + waitMs;
    const first = await read(scope, id, userRef);
    let status = first;
    while (status && status.state === first?.state && !isFinal(status) && !signal.aborted) {
      const leftMs = untilMs - clock.monotonicMs();
      if (leftMs <= 0) break;
      const { accountId } = scope;
      const announced = await changes.next(
        { accountId, decisionId: id, state: status.state },
        leftMs,
        signal,
      );
      if (!announced) break;
      status = await read(scope, id, userRef);
    }
    return status;
  };
}

const isFinal = ({ state }: RewardStatus): boolean => state !== 'none' && state !== 'pending';
