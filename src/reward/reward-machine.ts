import type { RewardStatus } from '../../protocol/wire.ts';
import type { Reward, RewardReport, RewardState } from '../outcome.ts';

/** What the ledger keeps of one reward. */
export interface LedgerEntry extends RewardReport {
  /** The format of this entry; another release may find it. */
  v: 1;
  token: string;
  placement: string;
  reward: Reward;
  /** The game's own id of the player who earned it, `''` without one. Absent in entries of older releases. */
  earnedBy?: string | undefined;
  /** The player to deliver it to: the one who earned it unless the rewards were transferred. */
  heldFor?: string | undefined;
  /** Wall time in milliseconds: when it was tracked, and when it was earned. */
  trackedAt: number;
  earnedAt?: number;
  /** Wall time at which a tab began to hand it over; no other tab does so for {@link claimMs}. */
  claimedAt?: number;
  /** Whether the game has taken it. */
  delivered: boolean;
  /**
   * Set while the entry moves between the ledgers of two publishable keys and must not be delivered: `arriving`
   * in the new ledger until it is `gone` from the old one, where it keeps that mark.
   */
  moved?: 'arriving' | 'gone';
}

/** How long a claim holds, in milliseconds. */
export const claimMs = 10_000;

/** A reward status of the service, with the reasons of the SDK. */
export type Verdict = Omit<RewardStatus, 'reason'> & Pick<RewardReport, 'reason'>;

export type RewardEvent =
  | { type: 'watched' }
  | { type: 'status'; status: Verdict; at: number }
  | { type: 'claimed' | 'released'; at: number }
  | { type: 'delivered' };

/** Whether the service will not change its mind. */
export const isFinal = (state: RewardState): boolean => state !== 'none' && state !== 'pending';

/**
 * The whole life of a reward: none → pending → earned | denied | expired, and earned → delivered.
 * What does not fit changes nothing, so a late or repeated message is harmless.
 */
export function advance(entry: LedgerEntry, event: RewardEvent): LedgerEntry {
  const { state, claimedAt = -Infinity } = entry;
  switch (event.type) {
    case 'watched':
      return state === 'none' ? { ...entry, state: 'pending' } : entry;
    case 'status':
      return isFinal(state) ? entry : withStatus(entry, event.status, event.at);
    case 'claimed':
      // A claim from the future is one of before the clock was set back.
      return isDue(entry) && Math.abs(event.at - claimedAt) >= claimMs
        ? { ...entry, claimedAt: event.at }
        : entry;
    case 'released':
      return claimedAt === event.at ? { ...entry, claimedAt: 0 } : entry;
    case 'delivered':
      return state === 'earned' ? { ...entry, delivered: true } : entry;
  }
}

function withStatus(entry: LedgerEntry, status: Verdict, at: number): LedgerEntry {
  // `none` from the service while we are pending: the completion is still in the outbox.
  if (status.state === 'none') return entry;
  const { reward = entry.reward, reason, receipt } = status;
  return {
    ...entry,
    state: status.state,
    reward,
    ...(reason && { reason }),
    ...(receipt && { receipt }),
    ...(status.state === 'earned' && { earnedAt: at }),
  };
}

/** Whether the game has still to be told. */
export const isDue = (entry: LedgerEntry): boolean =>
  entry.state === 'earned' && !entry.delivered && !entry.moved;

/** Whether the service has still to decide. */
export const isPending = (entry: LedgerEntry): boolean => entry.state === 'pending' && !entry.moved;

/** Whether something is still to come of it. */
export const isAwaited = (entry: LedgerEntry): boolean => isPending(entry) || isDue(entry);

/** How far it has come; more of it is never undone. */
export const progress = ({ state, delivered }: LedgerEntry): number =>
  Number(state !== 'none') + Number(isFinal(state)) + Number(delivered);

/** Whether a stored value is an entry that this release understands. */
export const isEntry = (value: unknown): value is LedgerEntry =>
  (value as Partial<LedgerEntry> | undefined)?.v === 1;

/** Whether it may be delivered to this player. An entry without a known player goes to the current one. */
export const isFor = ({ heldFor }: LedgerEntry, player: string | undefined): boolean =>
  player !== undefined && (heldFor ?? player) === player;

/** An entry as the game sees it. */
export const reportOf = ({
  decisionId,
  state,
  reason,
  reward,
  receipt,
}: LedgerEntry): RewardReport => ({
  decisionId,
  state,
  reward,
  ...(reason !== undefined && { reason }),
  ...(receipt !== undefined && { receipt }),
});
