import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Pseudonymize } from '../../decision/decision-service.ts';
import { exportPlayer } from '../../history/export-player.ts';
import { createJob } from '../../history/jobs.ts';
import type { MakeId } from '../../platform/ids.ts';
import type { Clock } from '../../platform/time.ts';
import type { AuditLog } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import type { EventBodies } from '../../webhook/event-writer.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { writeHeaders } from '../openapi.ts';
import type { RunOperation } from '../operations.ts';

interface Deps {
  database: Database;
  pseudonym: Pseudonymize;
  eventBodies: EventBodies;
  clock: Clock;
  makeId: MakeId;
  audit: AuditLog;
  runOperation: RunOperation;
}

interface PlayerRequest {
  Params: { user_ref: string };
}

const config = { keys: ['sk'], role: 'owner', power: 'players' } as const;
const params = {
  type: 'object',
  required: ['user_ref'],
  properties: { user_ref: { type: 'string', pattern: '^[\\x20-\\x7e]{1,128}$' } },
};

/** Adds the routes with which a game serves its players' rights: to have their data, and to have it erased. */
export function addPlayerRoutes(app: FastifyInstance, deps: Deps): void {
  const { database, pseudonym, eventBodies, audit, runOperation } = deps;
  app.delete<PlayerRequest>(
    '/v1/users/:user_ref',
    {
      config,
      schema: {
        operationId: 'erasePlayer',
        summary: 'Erase a player',
        description:
          'Starts a job that deletes what is stored about a player: decisions, events, rewards, webhook events with their deliveries, the wallet, and a guest player’s devices. Counts in reports stay. The `archive` command erases the player from archives.',
        params,
        headers: writeHeaders,
        response: { 202: { description: 'The job.', $ref: 'Job#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        // The job and the audit log must not name the player.
        const viewer = pseudonym(operation.scope, request.params.user_ref);
        const job = await createJob(operation, deps, { kind: 'erasure', request: { viewer } });
        const after = { job_id: job.id };
        await audit.record(operation, { action: 'player.erased', targetId: viewer, after });
        return { status: 202, body: job };
      }),
  );
  app.get<PlayerRequest>(
    '/v1/users/:user_ref/export',
    {
      config,
      schema: {
        operationId: 'exportPlayer',
        summary: 'Export a player',
        description:
          'Returns everything that is stored about a player as JSON lines: one per decision, with its events and reward, one per webhook event, with its deliveries, and those of the wallet.',
        params,
        response: {
          200: {
            description: 'The lines.',
            content: { 'application/x-ndjson': { schema: { type: 'string' } } },
          },
        },
      },
    },
    (request, reply) => {
      const principal = getPrincipal(request);
      const viewer = pseudonym(principal, request.params.user_ref);
      const lines = async function* () {
        for await (const line of exportPlayer(database, principal, viewer, eventBodies.open))
          yield `${JSON.stringify(line)}\n`;
      };
      return reply
        .type('application/x-ndjson')
        .serializer((stream: unknown) => stream as never)
        .send(Readable.from(lines()));
    },
  );
}
