import type { Creative, ReviewRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../../store/audit-log.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  applyChange,
  unreviewed,
  type ResourceKind,
  type Stored,
} from '../../resource/resource.ts';
import type { Manage } from '../../resource/manage.ts';
import type { Versioned } from '../../resource/resource-store.ts';
import { readIfMatch, type RunOperation } from '../operations/operations.ts';
import { type ResourceDefinition, withArticle } from './resource-routes.ts';
import { changeHeaders, idParams, nothing, writeHeaders } from '../openapi/route-schemas.ts';

interface Parts {
  manage: Manage;
  runOperation: RunOperation;
  clock: Clock;
}

interface IdRequest {
  Params: { id: string };
}
type Members = Record<string, unknown>;

const answer = (status: number, { document, revision }: Versioned<object>) => ({
  status,
  body: document,
  revision,
});

/** Adds the routes that create, update and archive one kind of managed object. */
export function addResourceWrites(
  app: FastifyInstance,
  { manage, runOperation }: Parts,
  definition: ResourceDefinition,
): void {
  const { kind, schema, path, noun } = definition;
  const one = { description: `The ${noun}.`, $ref: `${schema}#` };
  app.post<{ Body: Members }>(
    path,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `create${schema}`,
        summary: `Create ${withArticle(definition)}`,
        headers: writeHeaders,
        body: { $ref: `${schema}Request#` },
        response: { 201: one },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) =>
        answer(
          201,
          await manage.create(operation, kind, withServiceFields(kind, request.body, operation)),
        ),
      ),
  );
  app.patch<IdRequest & { Body: Members }>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `update${schema}`,
        summary: `Update ${withArticle(definition)}`,
        params: idParams(kind),
        headers: changeHeaders,
        body: { $ref: `${schema}Update#` },
        response: { 200: one },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { kind, id: request.params.id, ifMatch: readIfMatch(request) };
        const change = kind === 'killSwitch' ? withActor(request.body, operation) : request.body;
        return answer(
          200,
          await manage.change(operation, target, (before) => applyChange(kind, before, change)),
        );
      }),
  );
  app.delete<IdRequest>(
    `${path}/:id`,
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: `archive${schema}`,
        summary: `Archive ${withArticle(definition)}`,
        params: idParams(kind),
        headers: changeHeaders,
        response: nothing(`The ${noun} is archived.`),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        await manage.archive(operation, {
          kind,
          id: request.params.id,
          ifMatch: readIfMatch(request),
        });
        return { status: 204 };
      }),
  );
}

/** Adds the members of a new object that the service sets. */
function withServiceFields<K extends ResourceKind>(
  kind: K,
  body: Members,
  operation: Operation,
): Stored<K> {
  if (kind === 'creative') return { ...body, review: unreviewed } as unknown as Stored<K>;
  return (kind === 'killSwitch' ? withActor(body, operation) : body) as unknown as Stored<K>;
}

/** The default `actor` of a kill switch is the actor of the operation. */
const withActor = (body: Members, { actor }: Operation): Members => ({ actor, ...body });

/** `POST /v1/creatives/{id}/review`: approves, rejects or suspends a creative. */
export function addReviewRoute(app: FastifyInstance, { manage, runOperation, clock }: Parts): void {
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
        const review: Creative['review'] = {
          reviewed_by: operation.actor,
          ...request.body,
          reviewed_at: new Date(clock.nowMs()).toISOString(),
        };
        const target = {
          kind: 'creative' as const,
          id: request.params.id,
          ifMatch: readIfMatch(request),
          action: 'reviewed',
        };
        return answer(
          200,
          await manage.change(operation, target, (before) => ({ ...before, review })),
        );
      }),
  );
}
