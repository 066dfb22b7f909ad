import type { RewardStatus } from '../../protocol/wire.ts';

/** A pause after a failure, in which no tab sends. */
export interface Pause {
  ms: number;
  /** Number of consecutive failures, so that the next pause is longer in whichever tab. */
  failures: number;
  /** Whether the service asked for it by `Retry-After`. */
  demanded: boolean;
}

/** What a tab broadcasts: how the shared store grew or shrank, what the service answered, and when it failed. */
export interface TabMessage {
  events: number;
  bytes: number;
  rewards: RewardStatus[];
  pause?: Pause;
}
