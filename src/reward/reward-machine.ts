import type { RewardStatus } from '../../protocol/wire.ts';
import type { Reward, RewardReport, RewardState } from '../outcome.ts';

/** What the ledger keeps of one reward. */
export interface LedgerEntry {
  /** The format of this entry; another release may find it. */
  v: 1;
  decisionId: string;
  token: string;
  placement: string;
  state: RewardState;
  reward?: Reward;
  reason?: string;
  receipt?: string;
  /** Wall time in milliseconds: when it was tracked, and when it was earned. */
  trackedAt: number;
  earnedAt?: number;
  /** Whether the game has taken it. */
  delivered: boolean;
}

export type RewardEvent =
  | { type: 'watched' }
  | { type: 'status'; status: RewardStatus; at: number }
  | { type: 'delivered' };

/** Whether the service will not change its mind. */
export const isFinal = (state: RewardState): boolean => state !== 'none' && state !== 'pending';

/**
 * The whole life of a reward: none → pending → earned | denied | expired, and earned → delivered.
 * What does not fit changes nothing, so a late or repeated message is harmless.
 */
export function advance(entry: LedgerEntry, event: RewardEvent): LedgerEntry {
  switch (event.type) {
    case 'watched':
      return entry.state === 'none' ? { ...entry, state: 'pending' } : entry;
    case 'status':
      return isFinal(entry.state) ? entry : withStatus(entry, event.status, event.at);
    case 'delivered':
      return entry.state === 'earned' ? { ...entry, delivered: true } : entry;
  }
}

function withStatus(entry: LedgerEntry, status: RewardStatus, at: number): LedgerEntry {
  // `none` from the service while we are pending: the completion is still in the outbox.
  if (status.state === 'none') return entry;
  const { reward = entry.reward, reason, receipt } = status;
  return {
    ...entry,
    state: status.state,
    ...(reward && { reward }),
    ...(reason && { reason }),
    ...(receipt && { receipt }),
    ...(status.state === 'earned' && { earnedAt: at }),
  };
}

/** Whether the game has still to be told. */
export const isDue = (entry: LedgerEntry): boolean => entry.state === 'earned' && !entry.delivered;

/** An entry as the game sees it. */
export const reportOf = (entry: LedgerEntry): RewardReport => ({
  decisionId: entry.decisionId,
  state: entry.state,
  ...(entry.reason !== undefined && { reason: entry.reason }),
  ...(entry.reward && { reward: entry.reward }),
  ...(entry.receipt !== undefined && { receipt: entry.receipt }),
});
