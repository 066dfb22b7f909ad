import type { AdRuleRequest, DecisionRequest, PolicyRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { includesRole } from '../../access/principal.ts';
import { createInspectDecision } from '../../inspect/inspect-decision.ts';
import { listDecisions } from '../../inspect/list-decisions.ts';
import { throwFieldErrors } from '../../platform/domain-error.ts';
import { checkDocument } from '../../resource/check-document.ts';
import { requireInstant } from '../../platform/time.ts';
import { normalizeDocument } from '../../resource/normalize-document.ts';
import type { Stored } from '../../resource/resource.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { notFound, type PageQuery, pageQuerySchema, toCursor } from '../openapi.ts';
import { ProblemError } from '../problem.ts';
import { type PanelDeps, strictBody, textSchema } from './panel-deps.ts';

interface DryRunBody {
  request: DecisionRequest;
  device?: 'desktop' | 'mobile' | 'tablet';
  country?: string;
  policy?: PolicyRequest;
  policy_id?: string;
  ad_rule?: AdRuleRequest;
  ad_rule_id?: string;
}

interface SearchQuery extends PageQuery {
  player?: string;
  placement?: string;
  state?: string;
  from?: string;
  to?: string;
}

const searchSchema = pageQuerySchema('decision', {
  player: textSchema(128),
  placement: textSchema(64),
  state: {
    type: 'string',
    enum: ['earned', 'pending', 'denied', 'expired', 'filled', 'no_fill', 'blocked'],
  },
  from: { type: 'string', format: 'date-time' },
  to: { type: 'string', format: 'date-time' },
});

/** These routes are read-only, so every role may use them. */
const config = { panel: 'environment', role: 'viewer' } as const;

const dryRunSchema = strictBody(
  {
    request: { $ref: 'DecisionRequest#' },
    device: { type: 'string', enum: ['desktop', 'mobile', 'tablet'] },
    country: { type: 'string', pattern: '^[A-Z]{2}$' },
    policy: { $ref: 'PolicyRequest#' },
    policy_id: textSchema(64),
    ad_rule: { $ref: 'AdRuleRequest#' },
    ad_rule_id: textSchema(64),
  },
  ['request'],
);

/**
 * Adds `/panel/api/decisions`, which returns past decisions, and `/panel/api/policies/try`, which tests a policy or an
 * ad rule in a dry run.
 */
export function addInspectionRoutes(app: FastifyInstance, deps: PanelDeps): void {
  const { database, dryRun, pseudonym, wallets } = deps;
  const inspectDecision = createInspectDecision(deps);
  app.get<{ Querystring: SearchQuery }>(
    '/panel/api/decisions',
    { config, schema: { hide: true, querystring: searchSchema } },
    (request) => {
      const { player, placement, state, from, to } = request.query;
      const principal = getPrincipal(request);
      return listDecisions(database, principal, {
        ...toCursor(request.query),
        search: {
          viewer: player === undefined ? undefined : pseudonym(principal, player),
          placement,
          state,
          fromMs: from === undefined ? undefined : requireInstant(from),
          toMs: to === undefined ? undefined : requireInstant(to),
        },
      });
    },
  );
  app.get<{ Params: { id: string } }>(
    '/panel/api/decisions/:id',
    { config, schema: { hide: true } },
    async (request) => {
      const { id } = request.params;
      const inspection = await inspectDecision(getPrincipal(request), id);
      if (!inspection) throw notFound('decision', id);
      return inspection;
    },
  );
  app.post<{ Body: DryRunBody }>(
    '/panel/api/policies/try',
    { config, schema: { hide: true, body: dryRunSchema } },
    async (request) => {
      const {
        policy,
        policy_id: policyId,
        ad_rule: adRule,
        ad_rule_id: adRuleId,
        ...dryRunRequest
      } = request.body;
      const principal = getPrincipal(request);
      const { user_ref: player } = dryRunRequest.request;
      // What is in a wallet is not for viewers, so for them, nobody has a timed reward.
      const mayReadWallets =
        principal.kind !== 'session' || includesRole(principal.role, 'operator');
      const result = await dryRun(principal, {
        ...dryRunRequest,
        // The operator may say who the player is.
        hasActive: async (types) =>
          player !== undefined &&
          mayReadWallets &&
          wallets.hasActive(principal, pseudonym(principal, player), types),
        // Schema validation has filled in all default values.
        ...(policy ? { policy: readDraft('policy', '/policy', policy as Stored<'policy'>) } : {}),
        ...(policyId === undefined ? {} : { policyId }),
        ...(adRule ? { adRule: readDraft('adRule', '/ad_rule', adRule as Stored<'adRule'>) } : {}),
        ...(adRuleId === undefined ? {} : { adRuleId }),
      });
      if (result) return result;
      throw new ProblemError(
        'placement_not_found',
        `There is no placement ${dryRunRequest.request.placement} in ${principal.environment}.`,
      );
    },
  );
}

/** Normalizes a draft like a document that is stored. A policy that blocks nothing yet can be tried. */
function readDraft<K extends 'policy' | 'adRule'>(
  kind: K,
  member: string,
  received: Stored<K>,
): Stored<K> {
  const { document, errors } = normalizeDocument(kind, received);
  const violations = kind === 'adRule' ? checkDocument(kind, document, () => []) : [];
  throwFieldErrors(
    [...errors, ...violations].map(({ pointer, message }) => ({
      pointer: `${member}${pointer}`,
      message,
    })),
  );
  return document;
}
