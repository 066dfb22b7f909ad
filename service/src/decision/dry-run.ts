import type { Decision, DecisionRequest, Explanation, Policy } from '@trueward/protocol/wire';
import type { Clock } from '../platform/clock.ts';
import type { MakeId } from '../platform/ids.ts';
import { formatInstant } from '../platform/instant.ts';
import type { Stored } from '../resource/resource.ts';
import type { Scope } from '../store/database.ts';
import type { PolicyContext } from './decide.ts';
import { type EvaluateDeps, evaluateRequest } from './decision-service.ts';
import { describeDecision } from './describe-decision.ts';
import { selectPolicies } from './snapshot.ts';

/** A decision request to evaluate without storing the decision. */
interface DryRunRequest {
  request: DecisionRequest;
  device?: PolicyContext['device'];
  country?: string;
  /** A draft policy that applies in addition to the stored policies. */
  policy?: Stored<'policy'>;
  /** The stored policy that the draft replaces. */
  policyId?: string;
}

/**
 * Evaluates a request with the same code as a real decision, but stores nothing. Resolves to undefined if the placement
 * does not exist.
 */
export type DryRun = (
  scope: Scope,
  dryRun: DryRunRequest,
) => Promise<{ decision: Decision; explain: Explanation[]; rule?: Policy } | undefined>;

export function createDryRun(deps: EvaluateDeps & { clock: Clock; makeId: MakeId }): DryRun {
  return async (scope, { request, device, country, policy, policyId }) => {
    const { placements } = deps.configuration.snapshot(scope);
    const stored = placements.get(request.placement);
    if (!stored) return undefined;
    const nowMs = deps.clock.nowMs();
    const timestamp = formatInstant(nowMs);
    const drafts: Policy[] = policy
      ? [
          {
            id: policyId ?? deps.makeId('policy'),
            environment: scope.environment,
            created_at: timestamp,
            updated_at: timestamp,
            ...policy,
          },
        ]
      : [];
    const otherPolicies = stored.policies.filter(
      ({ id }) => policy === undefined || id !== policyId,
    );
    const entry = {
      ...stored,
      policies: selectPolicies(request.placement, [...otherPolicies, ...drafts]),
    };
    const client = { device, country };
    const input = { scope, entry, request, client, nowMs };
    const { verdict, viewer } = await evaluateRequest(deps, input);
    const { decision } = describeDecision({
      ...input,
      id: deps.makeId('decision'),
      viewer,
      verdict,
      bot: false,
      sign: () => '',
    });
    const { token: _token, explain: _explain, ...publicDecision } = decision;
    const rule = verdict.status === 'filled' ? undefined : verdict.rule;
    return { decision: publicDecision, explain: verdict.explain, ...(rule ? { rule } : {}) };
  };
}
