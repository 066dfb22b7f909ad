import type { Decision, RewardStatus } from '../../protocol/wire.ts';
import type { EarnedReward, RewardReport } from '../outcome.ts';
import type { Player } from '../player-context.ts';

/** Called with every earned reward until it returns or its promise resolves. */
export type RewardHandler = (reward: EarnedReward) => void | Promise<void>;

/** Rewards on the device: stores them, waits for their confirmation, delivers them to the game. */
export interface Rewards {
  /**
   * Stores a decision before its ad starts, with the player for whom it was requested (default: the current one).
   * Does nothing for a decision without a reward.
   */
  track(decision: Decision, owner?: Player): Promise<void>;
  /** The ad was watched to its end: from here on the reward is pending. */
  watched(decisionId: string): Promise<void>;
  /** Takes what the service said; resolves when it is stored. */
  settle(statuses: RewardStatus[]): Promise<void>;
  /** The final word of the service, or `pending` when it did not come within `withinMs`. */
  confirmation(decisionId: string, withinMs: number): Promise<RewardReport>;
  /**
   * The status from the service, or from this device if the service can't be reached. `none` for a reward of
   * another player.
   */
  status(decisionId: string): Promise<RewardReport>;
  /** The player’s pending rewards, and earned ones that have not been delivered. */
  list(): Promise<RewardReport[]>;
  /** Adds a handler; a reward counts as delivered when every handler took it. */
  onReward(handler: RewardHandler): () => void;
  /**
   * Switches to another player. Deliveries in progress finish; all others wait for their own player. Rewards held
   * for `transferFrom` go to the new player as soon as that player is identified.
   */
  playerChanged(transferFrom: string | undefined): Promise<void>;
  /** Reads the ledger again, after a write from elsewhere or once the player is identified. */
  refresh(): Promise<void>;
  /** Loads the code that confirms and delivers rewards before there are any. */
  prefetch(): void;
  diagnostics(): RewardDiagnostics;
  destroy(): void;
}

export interface RewardDiagnostics {
  /** `memory` where the browser refused a database: pending rewards do not survive the page then. */
  storage: 'indexeddb' | 'memory';
  pending: number;
  undelivered: number;
  /** How often a handler failed. */
  handlerErrors: number;
  lastError?: string;
}
