import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../decision/decision-state.ts';
import type { Clock } from '../platform/time.ts';
import type { Database, Scope } from '../store/database.ts';
import { type Receipts, verified } from './receipt.ts';
import type { RewardChanges } from './reward-changes.ts';

interface Deps {
  database: Database;
  changes: RewardChanges;
  clock: Pick<Clock, 'monotonicMs'>;
  receipts: Receipts;
}

/**
 * Reads a decision's reward. Resolves to undefined if the decision does not exist.
 *
 * @param waitMs how long to wait for a change if the state isn't final
 * @param userRef the user reference in the decision token
 */
export type ReadReward = (
  scope: Scope,
  id: string,
  waitMs: number,
  signal: AbortSignal,
  userRef?: string,
) => Promise<RewardStatus | undefined>;

export function createReadReward({ database, changes, clock, receipts }: Deps): ReadReward {
  const read = async (
    scope: Scope,
    id: string,
    userRef: string | undefined,
  ): Promise<RewardStatus | undefined> => {
    type Row = Omit<RewardedDecision, 'settledAtMs'>;
    const [row] = await database.query<Row & { settled_at: Date | null }>(
      `SELECT id, placement, settled_at, reward_state AS "rewardState", reward_reason AS "rewardReason", reward, evidence,
          user_ref AS "userRef" FROM decisions WHERE account_id = $1 AND environment = $2 AND id = $3`,
      [scope.accountId, scope.environment, id],
    );
    if (!row) return undefined;
    const settledAtMs = row.settled_at?.getTime() ?? null;
    return describeReward(receipts, scope, { ...row, settledAtMs }, userRef);
  };
  return async (scope, id, waitMs, signal, userRef) => {
    const deadlineMs = clock.monotonicMs() + waitMs;
    const initial = await read(scope, id, userRef);
    let status = initial;
    while (status && status.state === initial?.state && !isFinal(status) && !signal.aborted) {
      const remainingMs = deadlineMs - clock.monotonicMs();
      if (remainingMs <= 0) break;
      const hasChanged = await changes.next(
        { scope, decisionId: id, state: status.state },
        remainingMs,
        signal,
      );
      if (!hasChanged) break;
      status = await read(scope, id, userRef);
    }
    return status;
  };
}

const isFinal = ({ state }: RewardStatus): boolean => state !== 'none' && state !== 'pending';

type RewardedDecision = Pick<
  DecisionState,
  | 'id'
  | 'placement'
  | 'rewardState'
  | 'rewardReason'
  | 'reward'
  | 'evidence'
  | 'settledAtMs'
  | 'userRef'
>;

/**
 * Describes a reward for the SDK or the game's server.
 *
 * Signs the receipt on each read, because storing it would take 480 bytes per reward. The result is always the same,
 * because Ed25519 signatures are deterministic.
 *
 * @param tokenUserRef the user reference for the receipt if the decision has none. Children's user references are not
 * stored.
 */
export function describeReward(
  receipts: Receipts,
  scope: Scope,
  state: RewardedDecision,
  tokenUserRef: string | undefined,
): RewardStatus {
  const { id, placement, reward, settledAtMs } = state;
  const userRef = state.userRef ?? tokenUserRef;
  const evidence = state.evidence ?? verified;
  const receipt =
    state.rewardState === 'earned' && reward && userRef != null && settledAtMs !== null
      ? receipts.sign({
          scope,
          decisionId: id,
          userRef,
          placement,
          reward,
          evidence,
          nowMs: settledAtMs,
        })
      : undefined;
  return {
    id,
    state: state.rewardState,
    ...(state.rewardReason ? { reason: state.rewardReason } : {}),
    ...(reward ? { reward } : {}),
    ...(state.rewardState === 'earned' ? { evidence } : {}),
    ...(receipt ? { receipt } : {}),
  };
}
