import type { Placement } from '@trueward/protocol/wire';
import { errorsWhere, type FieldError } from '../platform/domain-error.ts';

/** The largest reward that is credited in a wallet, so that a balance stays exact after millions of rewards. */
const maxWalletAmount = 1_000_000_000;

/** Returns what is wrong with a placement's rewards. */
export const checkPlacement = ({
  format,
  reward,
  page_rewards: pageRewards,
  page_reward_cap: pageRewardCap,
}: Pick<Placement, 'format' | 'reward' | 'page_rewards' | 'page_reward_cap'>): FieldError[] => {
  const isCredited = reward?.credit === 'wallet';
  return errorsWhere(
    [
      format === 'rewarded' && reward === undefined,
      '/reward',
      'is required for a rewarded placement',
    ],
    [format !== 'rewarded' && reward !== undefined, '/reward', 'is for rewarded placements only'],
    [
      format !== 'rewarded' && pageRewards !== undefined,
      '/page_rewards',
      'is for rewarded placements only',
    ],
    [
      format !== 'rewarded' && pageRewardCap !== undefined,
      '/page_reward_cap',
      'is for rewarded placements only',
    ],
    [
      isCredited && !(Number.isInteger(reward.amount) && reward.amount <= maxWalletAmount),
      '/reward/amount',
      `must be a whole number up to ${maxWalletAmount} if the reward is credited in a wallet`,
    ],
    [
      !isCredited && reward?.duration_s !== undefined,
      '/reward/duration_s',
      'is for rewards with the credit `wallet` only',
    ],
    [
      reward?.duration_s === undefined && reward?.max_active_s !== undefined,
      '/reward/max_active_s',
      'is for rewards with a `duration_s` only',
    ],
    [
      (reward?.max_active_s ?? Infinity) < (reward?.duration_s ?? 0),
      '/reward/max_active_s',
      'must be at least `duration_s`',
    ],
  );
};
