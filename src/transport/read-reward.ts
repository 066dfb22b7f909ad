import type { RewardStatus } from '../../protocol/wire.ts';
import { type ServiceResult, type Guard, hasShape, type ServiceClient } from './service-client.ts';

const isRewardStatus: Guard<RewardStatus> = (body): body is RewardStatus =>
  hasShape(body, { id: '', state: '' });

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
