import type { Reward } from '@trueward/protocol/wire';
import type { Queries, Scope } from '../store/database.ts';
import { readHoldings, writeChanges } from './wallet-store.ts';

/** A reward that a player has just earned. */
export interface EarnedReward {
  decisionId: string;
  viewer: string | null;
  reward: Reward | null;
}

/**
 * Credits rewards in their players' wallets, in the transaction that earns them. The players must be locked. Costs
 * nothing if no reward is credited in a wallet.
 */
export async function creditRewards(
  queries: Queries,
  scope: Scope,
  rewards: readonly EarnedReward[],
  nowMs: number,
): Promise<void> {
  const changes = rewards.flatMap(({ decisionId, viewer, reward }) =>
    viewer !== null && reward?.credit === 'wallet'
      ? {
          viewer,
          id: decisionId,
          kind: 'reward' as const,
          type: reward.type,
          delta: reward.duration_s === undefined ? reward.amount : 0,
          durationS: reward.duration_s,
          maxActiveS: reward.max_active_s,
        }
      : [],
  );
  if (changes.length === 0) return;
  const viewers = [...new Set(changes.map(({ viewer }) => viewer))];
  const rows = await readHoldings(queries, scope, viewers);
  await writeChanges(queries, scope, rows, changes, nowMs);
}
