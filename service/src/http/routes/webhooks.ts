import type { OverlapRequest, WebhookRequest, WebhookUpdate } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import type { WebhookService } from '../../webhook/webhook-service.ts';
import { readIfMatch } from '../entity-tag.ts';
import type { RunOperation } from '../operations.ts';
import { changeHeaders, idParams, nothing, writeHeaders } from './resource-schemas.ts';

interface Parts {
  webhooks: WebhookService;
  runOperation: RunOperation;
}

interface IdRequest {
  Params: { id: string };
}

const config = { keys: ['sk'] } as const;
/** Whose answer carries a secret. */
const owned = { keys: ['sk'], role: 'owner' } as const;
const one = { description: 'The webhook.', $ref: 'Webhook#' };
const params = idParams('webhook');

/** Registers, changes and deletes webhooks; they are listed and read like every resource. */
export function addWebhookRoutes(app: FastifyInstance, { webhooks, runOperation }: Parts): void {
  app.post<{ Body: WebhookRequest }>(
    '/v1/webhooks',
    {
      config: owned,
      schema: {
        operationId: 'createWebhook',
        summary: 'Register a receiver of events',
        description: 'The answer carries the signing secret, this once.',
        headers: writeHeaders,
        body: { $ref: 'WebhookRequest#' },
        response: { 201: one },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { document, revision } = await webhooks.create(operation, request.body);
        return { status: 201, body: document, revision };
      }),
  );
  app.patch<IdRequest & { Body: WebhookUpdate }>(
    '/v1/webhooks/:id',
    {
      config,
      schema: {
        operationId: 'updateWebhook',
        summary: 'Update a webhook',
        params,
        headers: changeHeaders,
        body: { $ref: 'WebhookUpdate#' },
        response: { 200: one },
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
      config,
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        params,
        headers: changeHeaders,
        response: nothing('It is deleted.'),
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
      config: owned,
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Make a new signing secret',
        description:
          'The answer carries the new secret, this once. Until the overlap ends, the old ones sign as well.',
        params,
        headers: writeHeaders,
        body: { $ref: 'OverlapRequest#' },
        response: { 200: one },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { id } = request.params;
        const { overlap_s: overlapS } = request.body;
        const { document, revision } = await webhooks.rotateSecret(operation, id, overlapS);
        return { status: 200, body: document, revision };
      }),
  );
}
