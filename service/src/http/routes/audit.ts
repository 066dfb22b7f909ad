import type { FastifyInstance } from 'fastify';
import { listAuditEntries } from '../../audit/audit-log.ts';
import { toPage } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { type PageQuery, pageQuerySchema, pageSchema, toCursor } from '../openapi/route-schemas.ts';

interface AuditQuery extends PageQuery {
  target_id?: string;
  actor?: string;
  action?: string;
}

/** `GET /v1/audit-entries`: who did what, and what it was before. */
export function addAuditRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get<{ Querystring: AuditQuery }>(
    '/v1/audit-entries',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'listAuditEntries',
        summary: 'List what operators did, newest first',
        querystring: {
          ...pageQuerySchema,
          properties: {
            ...pageQuerySchema.properties,
            target_id: {
              type: 'string',
              maxLength: 64,
              description: 'Only what was done to this object.',
            },
            actor: {
              type: 'string',
              maxLength: 254,
              description:
                'Only by whoever has this in their e-mail address or in the id of their key.',
            },
            action: {
              type: 'string',
              maxLength: 100,
              description:
                'Only actions that begin with this, such as `placement` or `user.invited`.',
            },
          },
        },
        response: { 200: pageSchema('AuditEntry') },
      },
    },
    async (request) => {
      const { target_id: targetId, actor, action, ...page } = request.query;
      const entries = await listAuditEntries(database, principalOf(request), {
        ...toCursor(page),
        ...(targetId === undefined ? {} : { targetId }),
        ...(actor === undefined ? {} : { actor }),
        ...(action === undefined ? {} : { action }),
      });
      return toPage(entries, page.limit);
    },
  );
}
