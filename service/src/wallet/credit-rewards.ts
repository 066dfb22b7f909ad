import type { Reward } from '@trueward/protocol/wire';
import type { WriteEvents } from '../resource/change-events.ts';
import type { Queries, Scope } from '../store/database.ts';
import { draftWalletEvent } from './draft-events.ts';
import { readHoldings, writeChanges } from './wallet-store.ts';

/** A reward that a player has just earned. */
export interface EarnedReward {
  decisionId: string;
  viewer: string | null;
  userRef: string | undefined;
  reward: Reward | null;
}

/**
 * Credits rewards in their players' wallets, in the transaction that earns them, with their webhook events. The players
 * must be locked. Costs nothing if no reward is credited in a wallet. Resolves to whether there are deliveries.
 */
export async function creditRewards(
  queries: Queries,
  writeEvents: WriteEvents,
  scope: Scope,
  rewards: readonly EarnedReward[],
  nowMs: number,
): Promise<boolean> {
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
  if (changes.length === 0) return false;
  const viewers = [...new Set(changes.map(({ viewer }) => viewer))];
  const rows = await readHoldings(queries, scope, viewers);
  const entries = await writeChanges(queries, scope, rows, changes, nowMs);
  const userRefs = new Map(rewards.map(({ decisionId, userRef }) => [decisionId, userRef]));
  const drafts = entries.flatMap((entry, index) => {
    const [viewer, playerRef] = [changes[index]?.viewer, entry && userRefs.get(entry.id)];
    return entry && viewer !== undefined && playerRef !== undefined
      ? [draftWalletEvent({ viewer, playerRef, entry })]
      : [];
  });
  return writeEvents(queries, scope, drafts);
}
