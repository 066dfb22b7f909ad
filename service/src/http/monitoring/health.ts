import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/database.ts';
import { ProblemError } from '../problems/problem.ts';

interface Parts {
  database: Database;
  /** Aborts when the process is about to stop, while it still takes requests. */
  draining: AbortSignal;
}

/**
 * `/healthz`: the process lives. `/readyz`: it can be sent requests. On a standby of the database
 * it can, for reading; each write says for itself that it has to come again.
 */
export function addHealthRoutes(app: FastifyInstance, { database, draining }: Parts): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    if (draining.aborted)
      throw new ProblemError('unavailable', 'This process stops.', { retryAfterS: 1 });
    if (database.isFull?.() === true) {
      throw new ProblemError('unavailable', 'The disk of the database is full.', {
        retryAfterS: 5,
      });
    }
    try {
      return { status: (await isReadOnly(database)) ? 'read_only' : 'ok' };
    } catch {
      throw new ProblemError('unavailable', 'The database does not answer.', { retryAfterS: 5 });
    }
  });
}

/** Whether the database takes no writes: it is a standby, or an operator has closed it for them. */
export async function isReadOnly(database: Database): Promise<boolean> {
  const [row] = await database.query<{ read_only: boolean }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS read_only`,
  );
  return row?.read_only === true;
}
