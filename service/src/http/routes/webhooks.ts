import { webhookEventTypes } from '@trueward/protocol';
import type {
  OverlapRequest,
  WebhookEvent,
  WebhookRequest,
  WebhookUpdate,
} from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { toPage } from '../../resource/resource-store.ts';
import { type Database, forReads } from '../../store/database.ts';
import type { EventBodies } from '../../webhook/event-writer.ts';
import { listEvents } from '../../webhook/delivery-list.ts';
import { readWebhookHealth } from '../../webhook/webhook-health.ts';
import type { WebhookService } from '../../webhook/webhook-service.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  changeHeaders,
  idParams,
  noContent,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
  toCursor,
  writeHeaders,
} from '../openapi.ts';
import { readIfMatch, type RunOperation } from '../operations.ts';

interface Deps {
  webhooks: WebhookService;
  runOperation: RunOperation;
}

interface IdRequest {
  Params: { id: string };
}

const changeConfig = { keys: ['sk'], power: 'webhook_receivers' } as const;
/** For responses that contain a secret. */
const ownerConfig = { keys: ['sk'], role: 'owner', power: 'webhook_secrets' } as const;
const defaultOverlapS = 86_400;
const webhookResponse = { description: 'The webhook.', $ref: 'Webhook#' };
const params = idParams('webhook');

/** Adds the routes that create, update and delete webhooks. Webhooks are listed and read like other resources. */
export function addWebhookRoutes(app: FastifyInstance, { webhooks, runOperation }: Deps): void {
  app.post<{ Body: WebhookRequest }>(
    '/v1/webhooks',
    {
      config: ownerConfig,
      schema: {
        operationId: 'createWebhook',
        summary: 'Register a webhook',
        description: 'The response contains the webhook secret, which is shown only once.',
        headers: writeHeaders,
        body: { $ref: 'WebhookRequest#' },
        response: { 201: webhookResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { document, revision } = await webhooks.create(operation, request.body);
        return { status: 201, body: document, revision, shownOnce: 'secret' };
      }),
  );
  app.patch<IdRequest & { Body: WebhookUpdate }>(
    '/v1/webhooks/:id',
    {
      config: changeConfig,
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        params,
        headers: changeHeaders,
        body: { $ref: 'WebhookUpdate#' },
        response: { 200: webhookResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        const { document, revision } = await webhooks.update(operation, target, request.body);
        return { status: 200, body: document, revision };
      }),
  );
  app.delete<IdRequest>(
    '/v1/webhooks/:id',
    {
      config: changeConfig,
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        params,
        headers: changeHeaders,
        response: noContent('The webhook is deleted.'),
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const target = { id: request.params.id, ifMatch: readIfMatch(request) };
        await webhooks.delete(operation, target);
        return { status: 204 };
      }),
  );
  app.post<IdRequest & { Body: OverlapRequest }>(
    '/v1/webhooks/:id/rotate_secret',
    {
      config: ownerConfig,
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the webhook secret',
        description:
          'The response contains the new secret, which is shown only once. Until the overlap ends, requests are signed with both the new and the old secrets.',
        params,
        headers: writeHeaders,
        body: { $ref: 'OverlapRequest#' },
        response: { 200: webhookResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { id } = request.params;
        const { overlap_s: overlapS = defaultOverlapS } = request.body;
        const { document, revision } = await webhooks.rotateSecret(operation, id, overlapS);
        return { status: 200, body: document, revision, shownOnce: 'secret' };
      }),
  );
}

/** Adds `GET /v1/webhook-health`, which tells operators whether their webhooks are received. */
export function addWebhookHealthRoute(
  app: FastifyInstance,
  { database }: { database: Database },
): void {
  app.get(
    '/v1/webhook-health',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'readWebhookHealth',
        summary: 'Read the health of all webhooks',
        response: {
          200: {
            description: 'The health of each webhook.',
            content: { 'application/json': { schema: { $ref: 'WebhookHealthList#' } } },
          },
        },
      },
    },
    async (request) => ({
      data: await readWebhookHealth(forReads(database), getPrincipal(request)),
    }),
  );
}

/** Adds `GET /v1/webhook-events`, for servers that poll because they cannot receive webhooks. */
export function addWebhookEventRoutes(
  app: FastifyInstance,
  { database, eventBodies }: { database: Database; eventBodies: EventBodies },
): void {
  app.get<{ Querystring: PageQuery & { type?: WebhookEvent['type'] } }>(
    '/v1/webhook-events',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'listWebhookEvents',
        summary: 'List webhook events, newest first',
        description:
          'In live, `decision.served` is stored only while an enabled or disabled webhook subscribes to it.',
        querystring: pageQuerySchema('webhookEvent', {
          type: { type: 'string', enum: [...webhookEventTypes] },
        }),
        response: { 200: pageSchema('WebhookEvent') },
      },
    },
    async (request) => {
      const { type, ...page } = request.query;
      const events = await listEvents(database, eventBodies, getPrincipal(request), {
        ...toCursor(page),
        ...(type === undefined ? {} : { type }),
      });
      return toPage(events, page.limit);
    },
  );
}
