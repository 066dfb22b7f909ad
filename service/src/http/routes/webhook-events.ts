import { webhookEventTypes } from '@trueward/protocol';
import type { WebhookEvent } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { toPage } from '../../resource/page.ts';
import type { Database } from '../../store/database.ts';
import type { EventBodies } from '../../webhook/event-body.ts';
import { listEvents } from '../../webhook/event-list.ts';
import { principalOf } from '../authenticate.ts';
import { type PageQuery, pageQuerySchema, pageSchema, toCursor } from './resource-schemas.ts';

interface Parts {
  database: Database;
  eventBodies: EventBodies;
}

/** `GET /v1/webhook-events`: what webhooks are told, for who cannot be called. */
export function addWebhookEventRoutes(
  app: FastifyInstance,
  { database, eventBodies }: Parts,
): void {
  app.get<{ Querystring: PageQuery & { type?: WebhookEvent['type'] } }>(
    '/v1/webhook-events',
    {
      config: { keys: ['sk'] },
      schema: {
        operationId: 'listWebhookEvents',
        summary: 'List the events that webhooks are told, newest first',
        querystring: {
          ...pageQuerySchema,
          properties: {
            ...pageQuerySchema.properties,
            type: { type: 'string', enum: [...webhookEventTypes] },
          },
        },
        response: { 200: pageSchema('WebhookEvent') },
      },
    },
    async (request) => {
      const { type, ...page } = request.query;
      const events = await listEvents(database, eventBodies, principalOf(request), {
        ...toCursor(page),
        ...(type === undefined ? {} : { type }),
      });
      return toPage(events, page.limit);
    },
  );
}
