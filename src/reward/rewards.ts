import type { Decision, RewardStatus } from '../../protocol/wire.ts';
import type { EarnedReward, RewardReport } from '../outcome.ts';

/** Called with every earned reward until it returns or its promise resolves. */
export type RewardHandler = (reward: EarnedReward) => void | Promise<void>;

/** The device's side of rewards: remembers them, waits for the service's word, hands them to the game. */
export interface Rewards {
  /**
   * Remembers a decision before its ad starts, and the player in whose name it was asked for, if that was
   * known. Does nothing for a decision without a reward.
   */
  track(decision: Decision, playerRef?: string): Promise<void>;
  /** The ad was watched to its end: from here on the reward is pending. */
  watched(decisionId: string): Promise<void>;
  /** Takes what the service said; resolves when it is stored. */
  settle(statuses: RewardStatus[]): Promise<void>;
  /** The final word of the service, or `pending` when it did not come within `withinMs`. */
  confirmation(decisionId: string, withinMs: number): Promise<RewardReport>;
  /**
   * What the service knows now, or this device when the service can't be reached. `none` for the reward
   * of another player.
   */
  status(decisionId: string): Promise<RewardReport>;
  /** What the player still waits for: pending rewards, and earned ones that the game has not taken. */
  list(): Promise<RewardReport[]>;
  /** Adds a handler; a reward counts as delivered when every handler took it. */
  onReward(handler: RewardHandler): () => void;
  /**
   * Another player plays from now on. What is being handed over is finished; what has not begun waits
   * for its own player. What is held for `transferFrom` goes to the new one, as soon as they are known.
   */
  playerChanged(transferFrom: string | undefined): Promise<void>;
  /** Reads the ledger again, because somebody else wrote into it or the player has become known. */
  refresh(): Promise<void>;
  /** Loads the code that asks for rewards and hands them over, before there are any. */
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
