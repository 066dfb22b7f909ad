import type { RewardStatus } from '../../protocol/wire.ts';
import type { Reward, RewardReport, RewardState } from '../outcome.ts';
import { isReward } from '../transport/read-reward.ts';

/** One reward in the ledger. */
export interface LedgerEntry extends RewardReport {
  /** Version of this format. */
  v: 1;
  token: string;
  placement: string;
  reward: Reward;
  /**
   * The game's own id for the player who earned the reward, or `''` if there is none. Undefined in entries written by
   * older releases.
   */
  earnedBy?: string | undefined;
  /** The player to deliver the reward to: the player who earned it, unless it was transferred. */
  heldFor?: string | undefined;
  /** Wall-clock time at which the reward was tracked or earned, in milliseconds. */
  trackedAt: number;
  earnedAt?: number;
  /**
   * Wall-clock time at which a tab claimed the reward for delivery, in milliseconds. The claim lasts for {@link
   * claimMs}.
   */
  claimedAt?: number;
  /** The name of the lock that the tab holds, so that the claim ends with the tab. Undefined if there are no locks. */
  claimedBy?: string | undefined;
  /** Whether the game's handler has finished. */
  delivered: boolean;
}

/** How long a claim lasts, in milliseconds. */
export const claimMs = 10_000;

/** A reward status from the service or the SDK. */
export type StatusUpdate = Omit<RewardStatus, 'reason'> & Pick<RewardReport, 'reason'>;

export type RewardEvent =
  | { type: 'watched' }
  | { type: 'status'; status: StatusUpdate; at: number }
  | { type: 'claimed'; at: number; by?: string | undefined }
  | { type: 'released'; at: number }
  | { type: 'delivered' };

/** Whether the state is final: the service never changes it again. */
export const isFinal = (state: RewardState): boolean => state !== 'none' && state !== 'pending';

/**
 * A reward's state machine: none → pending → earned | denied | expired, and earned → delivered. Events that do not
 * apply to the current state are ignored, so late and repeated messages are harmless.
 */
export function advance(entry: LedgerEntry, event: RewardEvent): LedgerEntry {
  const { state, claimedAt = -Infinity } = entry;
  switch (event.type) {
    case 'watched':
      return state === 'none' ? { ...entry, state: 'pending' } : entry;
    case 'status':
      return isFinal(state) ? entry : applyStatus(entry, event.status, event.at);
    case 'claimed':
      // If the clock has been set back, the claim time may be in the future.
      return isDue(entry) && Math.abs(event.at - claimedAt) >= claimMs
        ? { ...entry, claimedAt: event.at, claimedBy: event.by }
        : entry;
    case 'released':
      return claimedAt === event.at ? { ...entry, claimedAt: 0 } : entry;
    case 'delivered':
      return state === 'earned' ? { ...entry, delivered: true } : entry;
  }
}

function applyStatus(entry: LedgerEntry, status: StatusUpdate, at: number): LedgerEntry {
  // The completion is still in the outbox, so the service does not know about it yet.
  if (status.state === 'none') return entry;
  const { reward, evidence, reason, receipt } = status;
  return {
    ...entry,
    state: status.state,
    reward: isReward(reward) ? reward : entry.reward,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof receipt === 'string' && { receipt }),
    ...(typeof evidence === 'string' && { evidence }),
    ...(status.state === 'earned' && { earnedAt: at }),
  };
}

/** Whether the reward is earned but not delivered yet. */
export const isDue = (entry: LedgerEntry): boolean => entry.state === 'earned' && !entry.delivered;

/** Whether the reward is still awaiting confirmation. */
export const isPending = (entry: LedgerEntry): boolean => entry.state === 'pending';

/** Whether the reward is pending, or earned but not delivered yet. */
export const isOpen = (entry: LedgerEntry): boolean => isPending(entry) || isDue(entry);

/** Returns how many irreversible steps the reward has taken, for comparing two versions of an entry. */
export const progress = ({ state, delivered }: LedgerEntry): number =>
  Number(state !== 'none') + Number(isFinal(state)) + Number(delivered);

/**
 * Whether a stored value is an entry that this release can read. Players can edit what their devices store, and a game's
 * handler relies on the types of a reward.
 */
export const isEntry = (value: unknown): value is LedgerEntry => {
  const entry = value as Partial<LedgerEntry> | null | undefined;
  return (
    entry?.v === 1 &&
    [entry.decisionId, entry.token, entry.placement, entry.state].every(
      (text) => typeof text === 'string',
    ) &&
    isReward(entry.reward) &&
    Number.isFinite(entry.trackedAt)
  );
};

/** Whether the reward may be delivered to this player. An entry without a player may be delivered to any player. */
export const isHeldFor = ({ heldFor }: LedgerEntry, player: string | undefined): boolean =>
  player !== undefined && (heldFor ?? player) === player;

/**
 * Returns the entry, transferred to `newRef` if it is held for `oldRef` and its reward can still be delivered. Entries
 * in state `none` are included, because their ads may still be on the screen.
 */
export const transferEntry = (entry: LedgerEntry, oldRef: string, newRef: string): LedgerEntry =>
  entry.heldFor === oldRef && (entry.state === 'none' || isOpen(entry))
    ? { ...entry, heldFor: newRef }
    : entry;

/** Returns the part of an entry that is reported to the game. */
export const toReport = ({
  decisionId,
  state,
  reason,
  reward,
  receipt,
  evidence,
}: LedgerEntry): RewardReport => ({
  decisionId,
  state,
  reward,
  ...(evidence && { evidence }),
  ...(reason !== undefined && { reason }),
  ...(receipt !== undefined && { receipt }),
});
