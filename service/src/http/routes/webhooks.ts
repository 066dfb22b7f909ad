import type { WebhookRequest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { refuseUrl } from '../../webhook/receiver-url.ts';
import type { WebhookService } from '../../webhook/webhook-service.ts';
import { principalOf } from '../authenticate.ts';
import { ProblemError } from '../problem.ts';
import { notFound } from './resource-schemas.ts';

interface Parts {
  webhooks: WebhookService;
  development: boolean;
}

/** Registers and deletes webhooks; they are listed and read like every resource. */
export function addWebhookRoutes(app: FastifyInstance, { webhooks, development }: Parts): void {
  app.post<{ Body: WebhookRequest }>(
    '/v1/webhooks',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'createWebhook',
        summary: 'Register a receiver of events',
        description: 'The answer carries the signing secret, this once.',
        body: { $ref: 'WebhookRequest#' },
        response: { 201: { description: 'The webhook.', $ref: 'Webhook#' } },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const message = refuseUrl(request.body.url, {
        development: development && principal.environment === 'sandbox',
      });
      if (message !== undefined) {
        throw new ProblemError('invalid_request', 'The body is not valid.', {
          errors: [{ pointer: '/url', message }],
        });
      }
      return reply.code(201).send(await webhooks.create(principal, request.body));
    },
  );

  app.delete<{ Params: { id: string } }>(
    '/v1/webhooks/:id',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        response: { 204: { description: 'It is deleted.', type: 'null' } },
      },
    },
    async (request, reply) => {
      const deleted = await webhooks.delete(principalOf(request), request.params.id);
      if (!deleted) throw notFound('Webhook', request.params.id);
      return reply.code(204).send();
    },
  );
}
