import { schemas } from '@trueward/protocol';
import type { AdEvent, EventBatchResult } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import type { RecordDropped } from '../../reward/dropped-events.ts';
import type { SubmittedEvent, IngestEvents } from '../../reward/ingest-events.ts';
import { getPrincipal } from '../authentication/authenticate.ts';
import { readAddress } from '../client-address.ts';
import { compileBody } from '../validation.ts';

/** A batch of unvalidated events. Each event is validated separately. */
interface UnvalidatedBatch {
  sent_at: string;
  events: { id: string }[];
  dropped?: Record<string, number>;
}

/** Returns the documented schema, relaxed to require only each event's id. This way, each event gets its own result. */
function unvalidatedBatchSchema(): object {
  const batch = schemas.find(
    (schema) => '$id' in schema && schema.$id === 'EventBatch',
  ) as unknown as BatchSchema;
  const items = {
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string', maxLength: 64 } },
  };
  const events = { ...batch.properties.events, items };
  return { ...batch, $id: 'LooseEventBatch', properties: { ...batch.properties, events } };
}

interface BatchSchema {
  properties: { events: object };
}

/** Enough for a full batch of 500 events at 512 bytes each. Events are rarely that large. */
const bodyLimit = 256 * 1024;

/** Adds `POST /v1/events`, which receives ad events. */
export function addEventRoutes(
  app: FastifyInstance,
  { ingestEvents, recordDropped }: { ingestEvents: IngestEvents; recordDropped: RecordDropped },
): void {
  const isBatch = compileBody(app, unvalidatedBatchSchema());
  const isEvent = compileBody(app, { $ref: 'AdEvent#' });
  app.post<{ Body: UnvalidatedBatch }>(
    '/v1/events',
    {
      bodyLimit,
      config: { keys: ['pk'] },
      schema: {
        operationId: 'reportEvents',
        summary: 'Report ad events',
        body: { $ref: 'EventBatch#' },
        response: { 200: { description: 'One result per event.', $ref: 'EventBatchResult#' } },
      },
      // The documented schema would reject the whole batch because of one invalid event.
      validatorCompiler: () => isBatch,
    },
    (request): Promise<EventBatchResult> => {
      const principal = getPrincipal(request);
      const { sent_at: sentAt, events, dropped } = request.body;
      if (dropped) recordDropped(principal, dropped);
      const submittedEvents = events.map((event): SubmittedEvent =>
        isEvent(event) ? (event as AdEvent) : { id: event.id, malformed: true },
      );
      const userAgent = request.headers['user-agent'];
      const client = { ip: readAddress(request), ...(userAgent !== undefined && { userAgent }) };
      return ingestEvents(principal, sentAt, submittedEvents, client);
    },
  );
}
