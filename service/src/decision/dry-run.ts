import type {
  AdRule,
  Decision,
  DecisionRequest,
  Explanation,
  Policy,
  Creative,
  DecisionCreative,
} from '@trueward/protocol/wire';
import type { Exchange, Notice, Offer, SourceResponse, VastStep } from '../demand/index.ts';
import type { MakeId } from '../platform/ids.ts';
import { type Clock, formatInstant } from '../platform/time.ts';
import type { Stored, ExternalSource } from '../resource/resource.ts';
import type { Scope } from '../store/database.ts';
import type { PolicyContext } from './match-policies.ts';
import {
  type EvaluateDeps,
  evaluateRequest,
  type ClientInfo,
  evaluateWithSources,
  type EvaluateWithSourcesDeps,
} from './decision-service.ts';
import { compileAdRules, findFreeingTypes, selectAdRules } from './ad-rules.ts';
import { describeDecision, describeOffer } from './describe-decision.ts';
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
  /** A draft ad rule that applies in addition to the stored ad rules. */
  adRule?: Stored<'adRule'>;
  /** The stored ad rule that the draft replaces. */
  adRuleId?: string;
  /** Resolves to whether the player's wallet has one of these timed rewards. */
  hasActive(types: readonly string[]): Promise<boolean>;
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
  return async (scope, dryRun) => {
    const { request, device, country, policy, policyId, adRule, adRuleId } = dryRun;
    const snapshot = deps.configuration.snapshot(scope);
    const storedEntry = snapshot.placements.get(request.placement);
    if (!storedEntry) return undefined;
    const nowMs = deps.clock.nowMs();
    const timestamp = formatInstant(nowMs);
    const fields = {
      environment: scope.environment,
      created_at: timestamp,
      updated_at: timestamp,
    };
    const drafts: Policy[] = policy
      ? [{ id: policyId ?? deps.makeId('policy'), ...fields, ...policy }]
      : [];
    const otherPolicies = storedEntry.policies.filter(
      ({ id }) => policy === undefined || id !== policyId,
    );
    const ruleDrafts: AdRule[] = adRule
      ? [{ id: adRuleId ?? deps.makeId('adRule'), ...fields, ...adRule }]
      : [];
    const otherRules = snapshot.adRules.enabled.filter(
      ({ id }) => adRule === undefined || id !== adRuleId,
    );
    const adRules = compileAdRules([...otherRules, ...ruleDrafts]);
    const entry = {
      ...storedEntry,
      adRules: selectAdRules(adRules, storedEntry.placement),
      policies: selectPolicies(request.placement, [...otherPolicies, ...drafts]),
    };
    const types = findFreeingTypes(entry.adRules, request.segments);
    const isFreed = types.length > 0 && (await dryRun.hasActive(types));
    const adFree = isFreed ? [entry.placement.format] : [];
    const client = { device, country, adFree };
    const input = { scope, entry, request, client, nowMs };
    // The evaluation sees the draft in place of the stored rule.
    const configuration = { ...deps.configuration, snapshot: () => ({ ...snapshot, adRules }) };
    const { verdict, viewer, ruleAnswer } = await evaluateRequest(
      { ...deps, configuration },
      input,
    );
    const { decision } = describeDecision({
      ...input,
      id: deps.makeId('decision'),
      viewer,
      verdict,
      ruleAnswer,
      bot: false,
      sign: () => '',
    });
    const { token: _token, explain: _explain, ...publicDecision } = decision;
    const rule = verdict.status === 'filled' ? undefined : verdict.rule;
    return { decision: publicDecision, explain: verdict.explain, ...(rule ? { rule } : {}) };
  };
}

/** A trial request to one external source. It is identical to the request that a decision would send. */
interface Trial {
  source: ExternalSource;
  placement: string;
  consent: 'granted' | 'denied' | 'unknown';
  client: Pick<ClientInfo, 'ip' | 'userAgent' | 'origin'>;
  /** Whether to import an unknown creative and add it to the review queue. */
  shouldSubmit: boolean;
}

export interface TrialResult {
  /** The source's verdict in the decision's explanation, such as `chosen` or `creative_pending`. */
  verdict: string;
  /** The source's latency; absent if no request was sent. */
  ms?: number;
  vastError?: number;
  /** All HTTP requests, in order. */
  exchanges: Exchange[];
  /** Steps taken to resolve the VAST tag or markup. */
  steps: VastStep[];
  offer?: Offer;
  /** Notices that a decision would send now. */
  notices: Notice[];
  /** The imported creative in the form that players receive; absent if it has not been imported yet. */
  creative?: DecisionCreative;
  review?: Creative['review']['status'];
}

/**
 * Runs a trial. Trials are not stored or counted, and send no notices. Resolves to undefined if the placement does not
 * exist.
 */
export type TrySource = (scope: Scope, trial: Trial) => Promise<TrialResult | undefined>;

export function createTrialRunner(deps: EvaluateWithSourcesDeps): TrySource {
  return async (scope, { source, placement, consent, client, shouldSubmit }) => {
    const snapshot = deps.configuration.snapshot(scope);
    const storedEntry = snapshot.placements.get(placement);
    if (!storedEntry) return undefined;
    const exchanges: Exchange[] = [];
    let response: SourceResponse | undefined;
    const externalDeps: typeof deps.externalDeps = {
      ...deps.externalDeps,
      async requestOffer(requestedSource, request, timeoutMs) {
        const onExchange = (exchange: Exchange): void => void exchanges.push(exchange);
        const record = (received: SourceResponse): SourceResponse => {
          response = received;
          const { deferred } = received;
          if (!deferred) return received;
          const fetch = async (limitMs: number) => record(await deferred.fetch(limitMs));
          return { ...received, deferred: { ...deferred, fetch } };
        };
        return record(
          await deps.externalDeps.requestOffer(
            requestedSource,
            { ...request, onExchange },
            timeoutMs,
          ),
        );
      },
      submit: (...submission) => {
        if (shouldSubmit) deps.externalDeps.submit(...submission);
      },
      recordOffer: () => undefined,
    };
    const { verdict, demand } = await evaluateWithSources(
      { ...deps, externalDeps },
      {
        scope,
        // House ads are excluded. Otherwise, a house ad with a higher priority would win before the source is called.
        entry: { ...storedEntry, candidates: [], sources: [source], pageSources: [] },
        request: { placement, consent: { status: consent } },
        client,
        nowMs: deps.clock.nowMs(),
      },
    );
    const offer = response?.offer;
    const explanation = verdict.explain.find(({ source_id }) => source_id === source.id);
    const ad = offer && snapshot.findExternalCreative(source.id, offer.creativeKey);
    return {
      verdict: explanation?.verdict ?? ('reason' in verdict ? verdict.reason : 'chosen'),
      exchanges,
      steps: response?.trace ?? [],
      notices: demand?.notices ?? [],
      ...(explanation?.ms !== undefined && { ms: explanation.ms }),
      ...(explanation?.vast_error !== undefined && { vastError: explanation.vast_error }),
      ...(offer && { offer }),
      ...(ad && { creative: describeOffer({ ...ad, offer }), review: ad.creative.review.status }),
    };
  };
}
