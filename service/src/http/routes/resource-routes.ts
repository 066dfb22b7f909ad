import type { FastifyInstance } from 'fastify';
import type { ResourceKind } from '../../resource/resource.ts';
import type { ResourceStore } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { toEntityTag } from '../operations/operations.ts';
import {
  idParams,
  notFound,
  pageSchema,
  type PageQuery,
  pageQuerySchema,
  toCursor,
} from '../openapi/route-schemas.ts';

/** Names for the routes of one kind of managed object. */
export interface ResourceDefinition {
  kind: ResourceKind;
  /** The name of its schema; `<schema>Request` creates and `<schema>Update` changes it. */
  schema: string;
  /** `/v1/placements` */
  path: string;
  /** The noun in texts: `house ad`. */
  noun: string;
}

/** The objects that operators create, read, list, update and archive in the same way. */
export const managedResources: readonly ResourceDefinition[] = [
  { kind: 'placement', schema: 'Placement', path: '/v1/placements', noun: 'placement' },
  { kind: 'source', schema: 'Source', path: '/v1/sources', noun: 'source' },
  { kind: 'advertiser', schema: 'Advertiser', path: '/v1/advertisers', noun: 'advertiser' },
  { kind: 'creative', schema: 'Creative', path: '/v1/creatives', noun: 'creative' },
  { kind: 'houseAd', schema: 'HouseAd', path: '/v1/house-ads', noun: 'house ad' },
  { kind: 'policy', schema: 'Policy', path: '/v1/policies', noun: 'policy' },
  { kind: 'killSwitch', schema: 'KillSwitch', path: '/v1/kill-switches', noun: 'kill switch' },
];

/** Webhooks are listed and read the same way, but created differently: they have a secret. */
export const webhookResource: ResourceDefinition = {
  kind: 'webhook',
  schema: 'Webhook',
  path: '/v1/webhooks',
  noun: 'webhook',
};

/** `/v1/house-ads` → `HouseAds`, for operation ids. */
const pluralOf = ({ path }: ResourceDefinition): string =>
  path
    .slice('/v1/'.length)
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `an advertiser`, `a placement` */
export const withArticle = ({ noun }: ResourceDefinition): string =>
  `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

interface Parts {
  database: Database;
  resources: ResourceStore;
}

/** Adds the routes that list and read one kind of managed object. */
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
        response: { 200: { description: `The ${noun}.`, $ref: `${schema}#` } },
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
