import type { FastifyInstance } from 'fastify';
import { cancelJob, findJob, listJobs } from '../../history/jobs.ts';
import type { Clock } from '../../platform/time.ts';
import { toPage } from '../../resource/resource-store.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  idParams,
  notFound,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
  toCursor,
  writeHeaders,
} from '../openapi.ts';
import type { RunOperation } from '../operations.ts';

interface Deps {
  database: Database;
  clock: Clock;
  audit: AuditLog;
  runOperation: RunOperation;
}

interface IdRequest {
  Params: { id: string };
}

const config = { keys: ['sk'] } as const;
const params = idParams('job');

/** Adds the routes that show how far background jobs are, and cancel them. */
export function addJobRoutes(app: FastifyInstance, deps: Deps): void {
  const { database, clock, audit, runOperation } = deps;
  app.get<{ Querystring: PageQuery }>(
    '/v1/jobs',
    {
      config,
      schema: {
        operationId: 'listJobs',
        summary: 'List background jobs, newest first',
        querystring: pageQuerySchema('job'),
        response: { 200: pageSchema('Job') },
      },
    },
    async (request) =>
      toPage(
        await listJobs(database, getPrincipal(request), toCursor(request.query)),
        request.query.limit,
      ),
  );
  app.get<IdRequest>(
    '/v1/jobs/:id',
    {
      config,
      schema: {
        operationId: 'readJob',
        summary: 'Read a background job',
        params,
        response: { 200: { description: 'The job.', $ref: 'Job#' } },
      },
    },
    async (request) => {
      const { id } = request.params;
      const job = await findJob(database, getPrincipal(request), id);
      if (!job) throw notFound('job', id);
      return job;
    },
  );
  app.post<IdRequest>(
    '/v1/jobs/:id/cancel',
    {
      config,
      schema: {
        operationId: 'cancelJob',
        summary: 'Cancel a background job',
        description:
          'What the job has done so far stays done. A job that has ended stays as it is.',
        params,
        headers: writeHeaders,
        response: { 200: { description: 'The job.', $ref: 'Job#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { id } = request.params;
        const job = await cancelJob(operation, id, clock.nowMs());
        await audit.record(operation, { action: 'job.canceled', targetId: id });
        return { status: 200, body: job };
      }),
  );
}
