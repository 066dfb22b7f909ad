import type { RewardStatus } from '@trueward/protocol/wire';
import { rewardStatusOf, type DecisionState } from '../event/decision-state.ts';
import type { Clock } from '../platform/clock.ts';
import type { Scope } from '../resource/scope.ts';
import type { Database } from '../store/database.ts';
import type { RewardChanges } from './reward-changes.ts';

interface Parts {
  database: Database;
  changes: RewardChanges;
  clock: Clock;
}

/** Changes by other processes are not announced here, so a waiting request also looks for itself. */
const lookEveryMs = 1_000;

/**
 * Reads the reward of a decision; undefined when there is no such decision. With `waitMs` it waits
 * for the state to change, unless it is final already.
 */
export type ReadReward = (
  scope: Scope,
  id: string,
  waitMs: number,
  signal: AbortSignal,
) => Promise<RewardStatus | undefined>;

export function createReadReward({ database, changes, clock }: Parts): ReadReward {
  const read = async (
    { accountId, environment }: Scope,
    id: string,
  ): Promise<RewardStatus | undefined> => {
    const [row] = await database.query<
      Pick<DecisionState, 'id' | 'rewardState' | 'rewardReason' | 'reward' | 'receipt'>
    >(
      `SELECT id, reward_state AS "rewardState", reward_reason AS "rewardReason", reward, receipt
        FROM decisions WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [accountId, environment, id],
    );
    return row && rewardStatusOf(row);
  };
  return async (scope, id, waitMs, signal) => {
    const untilMs = clock.nowMs() + waitMs;
    let announced = changes.next(id, Math.min(waitMs, lookEveryMs), signal);
    const first = await read(scope, id);
    let status = first;
    while (
      status &&
      status.state === first?.state &&
      !isFinal(status) &&
      !signal.aborted &&
      clock.nowMs() < untilMs
    ) {
      await announced;
      // Listen first, then look: a change between the two is not missed.
      announced = changes.next(
        id,
        Math.min(Math.max(untilMs - clock.nowMs(), 0), lookEveryMs),
        signal,
      );
      status = await read(scope, id);
    }
    return status;
  };
}

const isFinal = ({ state }: RewardStatus): boolean => state !== 'none' && state !== 'pending';
