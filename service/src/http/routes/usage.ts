import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/database.ts';
import type { Quotas } from '../../store/quotas.ts';
import { getPrincipal } from '../authentication/authenticate.ts';

/** Adds `GET /v1/usage`, which shows what the account stores and the limits on it. */
export function addUsageRoutes(
  app: FastifyInstance,
  { database, quotas }: { database: Database; quotas: Quotas },
): void {
  app.get(
    '/v1/usage',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readUsage',
        summary: 'Read what the account stores, and its limits',
        response: { 200: { description: 'The usage.', $ref: 'Usage#' } },
      },
    },
    async (request) => ({ data: await quotas.read(database, getPrincipal(request).accountId) }),
  );
}
