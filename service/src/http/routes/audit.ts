import type { FastifyInstance } from 'fastify';
import { listAuditEntries } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { requireInstant } from '../../platform/time.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { type PageQuery, pageQuerySchema, pageSchema, toCursor } from '../openapi.ts';

interface AuditQuery extends PageQuery {
  target_id?: string;
  actor?: string;
  action?: string;
  from?: string;
  to?: string;
}

/** Adds `GET /v1/audit-entries`, which lists who changed what, with the state before and after each change. */
export function addAuditRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get<{ Querystring: AuditQuery }>(
    '/v1/audit-entries',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'listAuditEntries',
        summary: 'List audit records, newest first',
        querystring: pageQuerySchema('auditEntry', {
          target_id: {
            type: 'string',
            maxLength: 64,
            description: 'Only changes to this object.',
          },
          actor: {
            type: 'string',
            maxLength: 254,
            description: 'Only changes by actors whose e-mail or key id contains this text.',
          },
          action: {
            type: 'string',
            maxLength: 100,
            description:
              'Only actions that start with this text, such as `placement` or `user.invited`.',
          },
          from: {
            type: 'string',
            format: 'date-time',
            description: 'Only changes at or after this time.',
          },
          to: {
            type: 'string',
            format: 'date-time',
            description: 'Only changes before this time.',
          },
        }),
        response: { 200: pageSchema('AuditEntry') },
      },
    },
    async (request) => {
      const { target_id: targetId, actor, action, from, to, ...page } = request.query;
      return listAuditEntries(database, getPrincipal(request), {
        ...toCursor(page),
        ...(targetId === undefined ? {} : { targetId }),
        ...(actor === undefined ? {} : { actor }),
        ...(action === undefined ? {} : { action }),
        ...(from === undefined ? {} : { fromMs: requireInstant(from) }),
        ...(to === undefined ? {} : { toMs: requireInstant(to) }),
      });
    },
  );
}
