import type { Decision, DecisionRequest, Explanation, Policy } from '@trueward/protocol/wire';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Stored } from '../resource/resource.ts';
import type { Scope } from '../store/database.ts';
import { type JudgeParts, judgeRequest } from './decision-service.ts';
import { describeDecision } from './describe-decision.ts';
import type { PolicyContext } from './policies.ts';
import { policiesOf } from './snapshot.ts';

/** A request that is only tried. */
interface Trial {
  request: DecisionRequest;
  device?: PolicyContext['device'];
  country?: string;
  /** Holds beside those that are stored. */
  policy?: Stored<'policy'>;
  /** The stored policy that it stands for. */
  policyId?: string;
}

/** What would be decided, by the code that decides; undefined: there is no such placement. Nothing is stored. */
export type TryRequest = (
  scope: Scope,
  trial: Trial,
) => Promise<{ decision: Decision; explain: Explanation[]; rule?: Policy } | undefined>;

export function createTryRequest(parts: JudgeParts & { clock: Clock; makeId: MakeId }): TryRequest {
  return async (scope, { request, device, country, policy, policyId }) => {
    const { placements } = parts.configuration.snapshot(scope);
    const stored = placements.get(request.placement);
    if (!stored) return undefined;
    const nowMs = parts.clock.nowMs();
    const now = new Date(nowMs).toISOString();
    const tried: Policy[] = policy
      ? [
          {
            id: policyId ?? parts.makeId('policy'),
            environment: scope.environment,
            created_at: now,
            updated_at: now,
            ...policy,
          },
        ]
      : [];
    const others = stored.policies.filter(({ id }) => policy === undefined || id !== policyId);
    const entry = {
      ...stored,
      policies: policiesOf(request.placement, [...others, ...tried]),
    };
    const client = { device, country };
    const asked = { scope, entry, request, client, nowMs };
    const { verdict, viewer } = await judgeRequest(parts, asked);
    const { decision } = describeDecision({
      ...asked,
      id: parts.makeId('decision'),
      viewer,
      verdict,
      bot: false,
      sign: () => '',
    });
    const { token: _token, explain: _explain, ...rest } = decision;
    const rule = verdict.status === 'filled' ? undefined : verdict.rule;
    return { decision: rest, explain: verdict.explain, ...(rule ? { rule } : {}) };
  };
}
