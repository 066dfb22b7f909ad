import type { Reward, RewardStatus } from '../../protocol/wire.ts';
import { type ServiceResult, type Guard, hasShape, type ServiceClient } from './service-client.ts';

const states = new Set<unknown>(['none', 'pending', 'earned', 'denied', 'expired']);

/** Whether the value is a reward. A game’s handler relies on the types. */
export const isReward = (value: unknown): value is Reward =>
  hasShape(value, { type: '', amount: 0 }) && Number.isFinite((value as Reward).amount);

/** Whether the body is a status. A state that is not known would be taken for a final one. */
export const isRewardStatus: Guard<RewardStatus> = (body): body is RewardStatus =>
  hasShape(body, { id: '', state: '' }) && states.has((body as RewardStatus).state);

/**
 * Requests a reward's state. The service holds the response until the state changes, but for no longer than `waitS`
 * seconds (0 to 25).
 */
export const readReward = (
  client: ServiceClient,
  decisionId: string,
  token: string,
  { waitS = 0, signal }: { waitS?: number; signal?: AbortSignal } = {},
): Promise<ServiceResult<RewardStatus>> =>
  client.call(`/v1/decisions/${encodeURIComponent(decisionId)}?wait_s=${waitS}`, isRewardStatus, {
    headers: { 'decision-token': token },
    waitMs: waitS * 1_000,
    signal,
  });
