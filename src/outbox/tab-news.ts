import type { RewardStatus } from '../../protocol/wire.ts';

/** What tabs tell each other: how the shared store grew or shrank, and what the service answered. */
export interface TabNews {
  events: number;
  bytes: number;
  rewards: RewardStatus[];
}
