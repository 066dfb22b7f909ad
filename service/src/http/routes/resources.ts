import type { FastifyInstance } from 'fastify';
import type { ResourceKind } from '../../resource/resource.ts';
import type { ResourceStore } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authenticate.ts';
import { notFound, pageSchema, type PageQuery, pageQuerySchema } from './resource-schemas.ts';

interface Parts {
  database: Database;
  resources: ResourceStore;
}

interface ResourceRoutes {
  kind: ResourceKind;
  /** The name of its schema. */
  schema: string;
  /** `/v1/placements` */
  path: string;
}

/** Adds list and read of one kind of managed object. */
export function addResourceReads(
  app: FastifyInstance,
  { database, resources }: Parts,
  routes: ResourceRoutes,
): void {
  const { kind, schema, path } = routes;
  app.get<{ Querystring: PageQuery }>(
    path,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `list${schema}s`,
        summary: `List, newest first`,
        querystring: pageQuerySchema,
        response: { 200: pageSchema(schema) },
      },
    },
    async (request) => {
      const { limit, starting_after: startingAfter } = request.query;
      return resources.list(database, principalOf(request), kind, {
        limit,
        ...(startingAfter === undefined ? {} : { startingAfter }),
      });
    },
  );
  app.get<{ Params: { id: string } }>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `read${schema}`,
        summary: 'Read one',
        response: { 200: { description: 'It.', $ref: `${schema}#` } },
      },
    },
    async (request) => {
      const document = await resources.read(
        database,
        principalOf(request),
        kind,
        request.params.id,
      );
      if (!document) throw notFound(schema, request.params.id);
      return document;
    },
  );
}
