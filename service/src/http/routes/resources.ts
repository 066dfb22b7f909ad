import type { FastifyInstance } from 'fastify';
import type { ResourceStore } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authenticate.ts';
import { toEntityTag } from '../entity-tag.ts';
import { pluralOf, type ResourceDefinition, withArticle } from './resource-definitions.ts';
import {
  idParams,
  notFound,
  pageSchema,
  type PageQuery,
  pageQuerySchema,
  toCursor,
} from './resource-schemas.ts';

interface Parts {
  database: Database;
  resources: ResourceStore;
}

/** Adds list and read of one kind of managed object. */
export function addResourceReads(
  app: FastifyInstance,
  { database, resources }: Parts,
  definition: ResourceDefinition,
): void {
  const { kind, schema, path, noun } = definition;
  app.get<{ Querystring: PageQuery }>(
    path,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `list${pluralOf(definition)}`,
        summary: `List every ${noun}, newest first`,
        querystring: pageQuerySchema,
        response: { 200: pageSchema(schema) },
      },
    },
    async (request) =>
      resources.list(database, principalOf(request), kind, toCursor(request.query)),
  );
  app.get<{ Params: { id: string } }>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `read${schema}`,
        summary: `Read ${withArticle(definition)}`,
        params: idParams(kind),
        response: { 200: { description: 'It.', $ref: `${schema}#` } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const found = await resources.find(database, principalOf(request), kind, id);
      if (!found) throw notFound(noun, id);
      return reply.header('etag', toEntityTag(found.revision)).send(found.document);
    },
  );
}
