import type { Creative, ReviewRequest } from '@trueward/protocol/wire';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { throwFieldErrors } from '../../platform/domain-error.ts';
import { type Clock, formatInstant } from '../../platform/time.ts';
import { toEffective } from '../../resource/effective-state.ts';
import {
  checkHeadersStay,
  type RequestHeaders,
  splitRequestHeaders,
} from '../../resource/request-headers.ts';
import type { ResourceManager } from '../../resource/resource-manager.ts';
import type { ResourceStore, Versioned } from '../../resource/resource-store.ts';
import {
  applyChange,
  type ResourceKind,
  type ResourceKinds,
  type Stored,
  unreviewed,
} from '../../resource/resource.ts';
import type { Operation } from '../../store/audit-log.ts';
import type { Database } from '../../store/database.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  changeHeaders,
  idParams,
  notFound,
  noContent,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
  toCursor,
  writeHeaders,
} from '../openapi.ts';
import { readIfMatch, type RunOperation, toEntityTag } from '../operations.ts';

/** Names that describe one kind of managed object. */
interface ResourceDefinition {
  kind: ResourceKind;
  /**
   * The name of the object's schema. `<schema>Request` and `<schema>Update` are the bodies that create and change the
   * object.
   */
  schema: string;
  /** For example, `/v1/placements`. */
  path: string;
  /** The noun for messages and documentation, such as `house ad`. */
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
  { kind: 'adRule', schema: 'AdRule', path: '/v1/ad-rules', noun: 'ad rule' },
  { kind: 'killSwitch', schema: 'KillSwitch', path: '/v1/kill-switches', noun: 'kill switch' },
];

/** Webhooks are listed and read like managed objects. They are created differently, because they have a secret. */
export const webhookResource: ResourceDefinition = {
  kind: 'webhook',
  schema: 'Webhook',
  path: '/v1/webhooks',
  noun: 'webhook',
};

/** Returns the plural for operation ids: `HouseAds` for `/v1/house-ads`. */
const getPluralName = ({ path }: ResourceDefinition): string =>
  path
    .slice('/v1/'.length)
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Returns the noun with its indefinite article: `an advertiser`, `a placement`. */
const addArticle = ({ noun }: ResourceDefinition): string =>
  `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

interface ReadDeps {
  clock: Clock;
  database: Database;
  resources: ResourceStore;
}

/** Adds the routes that list and read one kind of managed object. */
export function addResourceReads(
  app: FastifyInstance,
  { database, resources, clock }: ReadDeps,
  definition: ResourceDefinition,
): void {
  const { kind, schema, path, noun } = definition;
  app.get<{ Querystring: PageQuery }>(
    path,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `list${getPluralName(definition)}`,
        summary: `List every ${noun}, newest first`,
        querystring: pageQuerySchema(kind),
        response: { 200: pageSchema(schema) },
      },
    },
    async (request) => {
      const page = await resources.list(
        database,
        getPrincipal(request),
        kind,
        toCursor(request.query),
      );
      const nowMs = clock.nowMs();
      return { ...page, data: page.data.map((document) => toEffective(kind, document, nowMs)) };
    },
  );
  app.get<{ Params: { id: string } }>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `read${schema}`,
        summary: `Read ${addArticle(definition)}`,
        params: idParams(kind),
        response: { 200: { description: `The ${noun}.`, $ref: `${schema}#` } },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const resource = await resources.find(database, getPrincipal(request), kind, id);
      if (!resource) throw notFound(noun, id);
      return reply
        .header('etag', toEntityTag(resource.revision))
        .send(toEffective(kind, resource.document, clock.nowMs()));
    },
  );
}

interface WriteDeps {
  resourceManager: ResourceManager;
  runOperation: RunOperation;
  clock: Clock;
  requestHeaders: RequestHeaders;
}

interface IdRequest {
  Params: { id: string };
}
type Members = Record<string, unknown>;

/** Adds the routes that create, update and archive one kind of managed object. */
export function addResourceWrites(
  app: FastifyInstance,
  { resourceManager, runOperation, requestHeaders, clock }: WriteDeps,
  definition: ResourceDefinition,
): void {
  const { kind, schema, path, noun } = definition;
  const makeResponse = (
    status: number,
    { document, revision }: Versioned<ResourceKinds[ResourceKind]>,
  ) => ({ status, body: toEffective(kind, document, clock.nowMs()), revision });
  const objectResponse = { description: `The ${noun}.`, $ref: `${schema}#` };
  app.post<{ Body: Members }>(
    path,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `create${schema}`,
        summary: `Create ${addArticle(definition)}`,
        headers: writeHeaders,
        body: { $ref: `${schema}Request#` },
        response: { 201: objectResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { members, headers } = splitRequestHeaders(request.body);
        rejectLabel(request);
        const document = withServiceFields(kind, members, operation);
        const created = await resourceManager.create(operation, kind, document);
        if (headers) await requestHeaders.store(operation, created.document.id, headers);
        return makeResponse(201, created);
      }),
  );
  app.patch<IdRequest & { Body: Members }>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `update${schema}`,
        summary: `Update ${addArticle(definition)}`,
        params: idParams(kind),
        headers: changeHeaders,
        body: { $ref: `${schema}Update#` },
        response: { 200: objectResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { members, headers } = splitRequestHeaders(request.body);
        const target = { kind, id: request.params.id, ifMatch: readIfMatch(request) };
        rejectLabel(request);
        // A label belongs to one change, so a later change removes it.
        const change =
          kind === 'killSwitch'
            ? { on_behalf_of: null, ...withActor(members, operation) }
            : members;
        const changed = await resourceManager.change(operation, target, (before) => {
          const after = applyChange(kind, before, change);
          if (!headers) checkHeadersStay(before, after);
          return after;
        });
        if (headers) await requestHeaders.store(operation, target.id, headers);
        return makeResponse(200, changed);
      }),
  );
  app.delete<IdRequest>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `archive${schema}`,
        summary: `Archive ${addArticle(definition)}`,
        params: idParams(kind),
        headers: changeHeaders,
        response: noContent(`The ${noun} is archived.`),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        await resourceManager.archive(operation, {
          kind,
          id: request.params.id,
          ifMatch: readIfMatch(request),
        });
        return { status: 204 };
      }),
  );
}

/** Adds the members that the service sets on a new object. */
function withServiceFields<K extends ResourceKind>(
  kind: K,
  body: Members,
  operation: Operation,
): Stored<K> {
  if (kind === 'creative') return { ...body, review: unreviewed } as unknown as Stored<K>;
  return (kind === 'killSwitch' ? withActor(body, operation) : body) as unknown as Stored<K>;
}

/** Sets a kill switch's `actor`, which is always the session's user or the key. */
const withActor = (body: Members, { actor }: Operation): Members => ({ ...body, actor });

/** @throws ProblemError when a session sends `on_behalf_of`, because a user acts in their own name. */
function rejectLabel(request: FastifyRequest): void {
  const { on_behalf_of: label } = request.body as { on_behalf_of?: unknown };
  if (label === undefined || getPrincipal(request).kind !== 'session') return;
  throwFieldErrors([
    { pointer: '/on_behalf_of', message: 'is for requests with a secret key only' },
  ]);
}

/** Adds `POST /v1/creatives/{id}/review`, which approves, rejects or suspends a creative. */
export function addReviewRoute(
  app: FastifyInstance,
  { resourceManager, runOperation, clock }: WriteDeps,
): void {
  app.post<IdRequest & { Body: ReviewRequest }>(
    '/v1/creatives/:id/review',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'reviewCreative',
        summary: 'Review a creative',
        description: 'Only approved creatives are served.',
        params: idParams('creative'),
        headers: changeHeaders,
        body: { $ref: 'ReviewRequest#' },
        response: { 200: { description: 'The creative.', $ref: 'Creative#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        rejectLabel(request);
        const review: Creative['review'] = {
          ...request.body,
          reviewed_by: operation.actor,
          reviewed_at: formatInstant(clock.nowMs()),
        };
        const target = {
          kind: 'creative' as const,
          id: request.params.id,
          ifMatch: readIfMatch(request),
          action: 'reviewed',
        };
        const { document, revision } = await resourceManager.change(
          operation,
          target,
          (before) => ({ ...before, review }),
        );
        return { status: 200, body: document, revision };
      }),
  );
}
