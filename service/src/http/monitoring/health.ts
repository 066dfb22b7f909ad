import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../platform/time.ts';
import type { Database } from '../../store/database.ts';
import { ProblemError } from '../problem.ts';

interface Deps {
  database: Database;
  /** Aborts when the process starts to drain. At that point, the process still accepts requests. */
  draining: AbortSignal;
  clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Adds `/healthz`, which shows that the process is alive, and `/readyz`, which shows that the process can serve
 * requests. With a read-only database, the process serves reads and rejects writes with a retryable error.
 */
export function addHealthRoutes(app: FastifyInstance, { database, draining, clock }: Deps): void {
  const readState = shareBriefly(() => isReadOnly(database), clock);
  app.get('/healthz', { schema: { hide: true } }, async (_request, reply) => {
    // A page reads it to tell this service from another server at its URL.
    void reply.header('access-control-allow-origin', '*');
    return { status: 'ok' };
  });
  app.get('/readyz', { schema: { hide: true } }, async () => {
    if (draining.aborted)
      throw new ProblemError('unavailable', 'This process is shutting down.', { retryAfterS: 1 });
    if (database.isFull?.() === true) {
      throw new ProblemError('unavailable', 'The database disk is full.', {
        retryAfterS: 5,
      });
    }
    try {
      return { status: (await readState()) ? 'read_only' : 'ok' };
    } catch {
      throw new ProblemError('unavailable', 'The database is unavailable.', { retryAfterS: 5 });
    }
  });
}

/** How long an answer of the database is valid for all requests. Anyone can request `/readyz`. */
const validMs = 250;

/** Shares a running call, and then its result for a moment. */
function shareBriefly<T>(
  call: () => Promise<T>,
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
): () => Promise<T> {
  let shared: { result: Promise<T>; endsAtMs: number } | undefined;
  return () => {
    if (shared && monotonicMs() < shared.endsAtMs) return shared.result;
    const current = { result: call(), endsAtMs: Infinity };
    shared = current;
    const settle = (): void => void (current.endsAtMs = monotonicMs() + validMs);
    current.result.then(settle, settle);
    return current.result;
  };
}

/** Whether the database rejects writes, because it is a standby or because an operator made it read-only. */
export async function isReadOnly(database: Database): Promise<boolean> {
  const [row] = await database.query<{ read_only: boolean }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS read_only`,
  );
  return row?.read_only === true;
}
