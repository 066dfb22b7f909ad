import type { FastifyInstance } from 'fastify';
import { listAuditEntries } from '../../audit/audit-log.ts';
import { toPage } from '../../resource/page.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authenticate.ts';
import { type PageQuery, pageQuerySchema, pageSchema, toCursor } from './resource-schemas.ts';

/** `GET /v1/audit-entries`: who did what, and what it was before. */
export function addAuditRoutes(app: FastifyInstance, { database }: { database: Database }): void {
  app.get<{ Querystring: PageQuery & { target_id?: string } }>(
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
          },
        },
        response: { 200: pageSchema('AuditEntry') },
      },
    },
    async (request) => {
      const { target_id: targetId, ...page } = request.query;
      const entries = await listAuditEntries(database, principalOf(request), {
        ...toCursor(page),
        ...(targetId === undefined ? {} : { targetId }),
      });
      return toPage(entries, page.limit);
    },
  );
}
