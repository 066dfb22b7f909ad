import type { RewardStatus } from '@trueward/protocol/wire';
import type { DecisionState } from '../decision/decision-state.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Scope } from '../store/database.ts';
import { evidence, type Receipts } from './receipt.ts';
import type { RewardChanges } from './reward-changes.ts';

interface Deps {
  database: Database;
  changes: RewardChanges;
  clock: Pick<Clock, 'monotonicMs'>;
  receipts: Receipts;
}

/**
 * Reads a decision's reward; resolves to undefined if there is no such decision. With `waitMs`, waits until the state
 * changes or is final; changes by other processes are noticed within a second.
 *
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
      `SELECT id, placement, settled_at, reward_state AS "rewardState", reward_reason AS "rewardReason", reward, receipt,
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
      const { accountId } = scope;
      const hasChanged = await changes.next(
        { accountId, decisionId: id, state: status.state },
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
  | 'receipt'
  | 'settledAtMs'
  | 'userRef'
>;

/**
 * Describes a reward to the SDK or the game's server. The receipt is signed on each read, because storing it would take
 * 480 bytes per reward; Ed25519 signatures are deterministic. The receipt contains the user reference from the
 * decision. For children, user references aren't stored, so it contains the one from the token. Earlier releases stored
 * receipts.
 */
export function describeReward(
  receipts: Receipts,
  scope: Scope,
  state: RewardedDecision,
  tokenUserRef: string | undefined,
): RewardStatus {
  const { id, placement, reward, settledAtMs } = state;
  const userRef = state.userRef ?? tokenUserRef;
  const needsReceipt = state.rewardState === 'earned' && state.receipt === null;
  const receipt =
    needsReceipt && reward && userRef != null && settledAtMs !== null
      ? receipts.sign({
          scope,
          decisionId: id,
          userRef,
          placement,
          reward,
          nowMs: settledAtMs,
        })
      : state.receipt;
  return {
    id,
    state: state.rewardState,
    ...(state.rewardReason ? { reason: state.rewardReason } : {}),
    ...(reward ? { reward } : {}),
    ...(state.rewardState === 'earned' ? { evidence } : {}),
    ...(receipt ? { receipt } : {}),
  };
}
