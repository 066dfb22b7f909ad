import type { FastifyInstance } from 'fastify';
import { findMistakes, readIntegrationFacts } from '../../history/integration-health.ts';
import type { Clock } from '../../platform/time.ts';
import { type Database, forReads } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';

/** Adds `GET /v1/mistakes`, which returns what is probably wrong in a game's integration. */
export function addMistakeRoutes(
  app: FastifyInstance,
  { database, clock }: { database: Database; clock: Clock },
): void {
  app.get(
    '/v1/mistakes',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readMistakes',
        summary: 'Read the probable mistakes in the integration',
        response: {
          200: {
            description: 'The mistakes, the gravest first. Empty if nothing stands out.',
            content: { 'application/json': { schema: { $ref: 'MistakeList#' } } },
          },
        },
      },
    },
    async (request) => {
      const facts = await readIntegrationFacts(
        forReads(database),
        getPrincipal(request),
        clock.nowMs(),
      );
      return { data: findMistakes(facts) };
    },
  );
}
