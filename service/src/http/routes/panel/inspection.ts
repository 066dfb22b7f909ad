import type { DecisionRequest, PolicyRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { createInspectDecision } from '../../../inspect/inspect-decision.ts';
import { listDecisions } from '../../../inspect/list-decisions.ts';
import { toPage } from '../../../resource/page.ts';
import type { Stored } from '../../../resource/resource.ts';
import { principalOf } from '../../authenticate.ts';
import { ProblemError } from '../../problem.ts';
import { notFound, type PageQuery, pageQuerySchema, toCursor } from '../resource-schemas.ts';
import type { PanelParts } from './panel-parts.ts';
import { strictBody, text } from './panel-schemas.ts';

interface Trial {
  request: DecisionRequest;
  device?: 'desktop' | 'mobile' | 'tablet';
  country?: string;
  policy?: PolicyRequest;
  policy_id?: string;
}

/** Nothing is changed by trying, so everybody may. */
const config = { panel: 'environment', role: 'viewer' } as const;

const trialSchema = strictBody(
  {
    request: { $ref: 'DecisionRequest#' },
    device: { type: 'string', enum: ['desktop', 'mobile', 'tablet'] },
    country: { type: 'string', pattern: '^[A-Z]{2}$' },
    policy: { $ref: 'PolicyRequest#' },
    policy_id: text(64),
  },
  ['request'],
);

/** `/panel/api/decisions` and `/panel/api/policies/try`: what was decided, and what would be. */
export function addInspectionRoutes(app: FastifyInstance, parts: PanelParts): void {
  const { database, tryRequest } = parts;
  const inspectDecision = createInspectDecision(parts);
  app.get<{ Querystring: PageQuery }>(
    '/panel/api/decisions',
    { config, schema: { hide: true, querystring: pageQuerySchema } },
    async (request) =>
      toPage(
        await listDecisions(database, principalOf(request), toCursor(request.query)),
        request.query.limit,
      ),
  );
  app.get<{ Params: { id: string } }>(
    '/panel/api/decisions/:id',
    { config, schema: { hide: true } },
    async (request) => {
      const { id } = request.params;
      const found = await inspectDecision(principalOf(request), id);
      if (!found) throw notFound('decision', id);
      return found;
    },
  );
  app.post<{ Body: Trial }>(
    '/panel/api/policies/try',
    { config, schema: { hide: true, body: trialSchema } },
    async (request) => {
      const { policy, policy_id: policyId, ...trial } = request.body;
      const principal = principalOf(request);
      const tried = await tryRequest(principal, {
        ...trial,
        // The schema has put in every default.
        ...(policy ? { policy: policy as Stored<'policy'> } : {}),
        ...(policyId === undefined ? {} : { policyId }),
      });
      if (tried) return tried;
      throw new ProblemError(
        'placement_not_found',
        `There is no placement ${trial.request.placement} in ${principal.environment}.`,
      );
    },
  );
}
