import type { Decision } from '../../protocol/wire.ts';
import type { RewardReport } from '../outcome.ts';
import type { ServiceResult } from '../transport/service-client.ts';

/** Returns the response to an ad request in one line. */
export function describeResponse(response: ServiceResult<Decision>): string {
  switch (response.kind) {
    case 'ok': {
      const { creative, id, reason, retry_at: retryAt, status } = response.body;
      return joinParts(
        status,
        reason,
        creative?.media.format,
        retryAt && `not before ${retryAt}`,
        id,
      );
    }
    case 'refused':
      return joinParts('refused', response.problem.code, response.problem.detail);
    case 'retry':
      return `HTTP ${response.status}`;
    case 'unreachable':
      return response.cause;
  }
}

/** Returns a reward's state in one line. */
export const describeReward = ({ reason, reward, state }: RewardReport): string =>
  joinParts(state, reason, reward && `${reward.amount} ${reward.type}`);

/** Joins the parts that are present. */
export const joinParts = (...parts: (string | false | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== false && part !== '').join(', ');
