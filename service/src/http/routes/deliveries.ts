import { webhookEventTypes } from '@trueward/protocol';
import type { Delivery, WebhookTest } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import { requireInstant } from '../../platform/time.ts';
import { type ResourceStore, toPage } from '../../resource/resource-store.ts';
import type { Database } from '../../store/database.ts';
import { findDelivery, listDeliveries } from '../../webhook/delivery-list.ts';
import { eventOutcomes, type RecoveryFilter } from '../../webhook/recovery.ts';
import type { Redelivery } from '../../webhook/redelivery.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import {
  idParams,
  notFound,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
  toCursor,
  writeHeaders,
} from '../openapi.ts';
import type { RunOperation } from '../operations.ts';

interface Deps {
  database: Database;
  resources: ResourceStore;
  redelivery: Redelivery;
  runOperation: RunOperation;
}

interface RecoveryQuery {
  since: string;
  until?: string;
  state?: RecoveryFilter['state'];
  type?: RecoveryFilter['type'];
}

interface IdRequest {
  Params: { id: string };
}

const config = { keys: ['sk'] } as const;
const deliveryResponse = { description: 'The delivery.', $ref: 'Delivery#' };

/** Adds the routes that list and read deliveries, and redeliver events. */
export function addDeliveryRoutes(app: FastifyInstance, deps: Deps): void {
  addReads(app, deps);
  addWrites(app, deps);
}

function addReads(app: FastifyInstance, { database, resources }: Deps): void {
  app.get<IdRequest & { Querystring: PageQuery & { state?: Delivery['state'] } }>(
    '/v1/webhooks/:id/deliveries',
    {
      config,
      schema: {
        operationId: 'listDeliveries',
        summary: "List a webhook's deliveries with their attempts, newest first",
        params: idParams('webhook'),
        querystring: pageQuerySchema('delivery', {
          state: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
        }),
        response: { 200: pageSchema('Delivery') },
      },
    },
    async (request) => {
      const principal = getPrincipal(request);
      const { id } = request.params;
      const { state, ...page } = request.query;
      if (!(await resources.find(database, principal, 'webhook', id)))
        throw notFound('webhook', id);
      const deliveries = await listDeliveries(database, principal, id, {
        ...toCursor(page),
        ...(state === undefined ? {} : { state }),
      });
      return toPage(deliveries, page.limit);
    },
  );
  app.get<IdRequest>(
    '/v1/deliveries/:id',
    {
      config,
      schema: {
        operationId: 'readDelivery',
        summary: 'Read a delivery',
        params: idParams('delivery'),
        response: { 200: deliveryResponse },
      },
    },
    async (request) => {
      const { id } = request.params;
      const delivery = await findDelivery(database, getPrincipal(request), id);
      if (!delivery) throw notFound('delivery', id);
      return delivery;
    },
  );
}

function addWrites(app: FastifyInstance, { redelivery, runOperation }: Deps): void {
  app.post<IdRequest>(
    '/v1/deliveries/:id/redeliver',
    {
      config,
      schema: {
        operationId: 'redeliver',
        summary: 'Redeliver an event',
        params: idParams('delivery'),
        headers: writeHeaders,
        response: { 202: { description: 'The new delivery.', $ref: 'Delivery#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => ({
        status: 202,
        body: await redelivery.redeliver(operation, request.params.id),
      })),
  );
  app.post<IdRequest & { Body: WebhookTest }>(
    '/v1/webhooks/:id/test',
    {
      config,
      schema: {
        operationId: 'testWebhook',
        summary: 'Send a test event',
        description: 'The event is signed like any other event. Its player is `trueward-test`.',
        params: idParams('webhook'),
        headers: writeHeaders,
        body: { $ref: 'WebhookTest#' },
        response: { 202: deliveryResponse },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => ({
        status: 202,
        body: await redelivery.test(operation, request.params.id, request.body.type),
      })),
  );
  app.post<IdRequest & { Querystring: RecoveryQuery }>(
    '/v1/webhooks/:id/recover',
    {
      config,
      schema: {
        operationId: 'recoverWebhook',
        summary: 'Resend events',
        description:
          'Starts a job that sends events of a period again, one after another: by default those that the webhook missed, because it was disabled or every attempt failed. Events that are still being delivered are left out.',
        params: idParams('webhook'),
        headers: writeHeaders,
        querystring: {
          type: 'object',
          additionalProperties: false,
          required: ['since'],
          properties: {
            since: { type: 'string', format: 'date-time' },
            until: { type: 'string', format: 'date-time', description: 'Default: now.' },
            state: {
              type: 'string',
              enum: [...eventOutcomes],
              description:
                'Only events that were never queued (`missed`), whose delivery `failed`, or that were `delivered`. Default: `missed` and `failed`.',
            },
            type: { type: 'string', enum: [...webhookEventTypes] },
          },
        },
        response: { 202: { description: 'The job.', $ref: 'Job#' } },
      },
    },
    (request, reply) =>
      runOperation(request, reply, async (operation) => {
        const { since, until, state, type } = request.query;
        const filter = {
          sinceMs: requireInstant(since),
          untilMs: until === undefined ? undefined : requireInstant(until),
          state,
          type,
        };
        return {
          status: 202,
          body: await redelivery.recover(operation, request.params.id, filter),
        };
      }),
  );
}
