import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/database.ts';
import { ProblemError } from '../problem.ts';

/** `/healthz`: the process lives. `/readyz`: its database answers. */
export function addHealthRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    try {
      await database.query('SELECT 1');
    } catch {
      throw new ProblemError('unavailable', 'The database does not answer.', { retryAfterS: 5 });
    }
    return { status: 'ok' };
  });
}
