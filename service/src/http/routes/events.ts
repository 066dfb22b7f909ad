import { schemas } from '@trueward/protocol';
import type { AdEvent, EventBatchResult } from '@trueward/protocol/wire';
import type { FastifyInstance } from 'fastify';
import type { NoteDropped } from '../../event/dropped-events.ts';
import type { Submitted, TakeIn } from '../../event/intake.ts';
import { principalOf } from '../authentication/authenticate.ts';
import { compileBody } from '../requests/validation.ts';

/** A batch whose events have not been looked at yet: each is validated by itself. */
interface LooseBatch {
  sent_at: string;
  events: { id: string }[];
  dropped?: Record<string, number>;
}

/** The documented batch, but of its events only that each can be answered under its id. */
function looseBatch(): object {
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

/** Room for 500 events of half a kilobyte, which is a long one. */
const bodyLimit = 256 * 1024;

/** `POST /v1/events`: reports what happened to shown ads. */
export function addEventRoutes(
  app: FastifyInstance,
  { takeIn, noteDropped }: { takeIn: TakeIn; noteDropped: NoteDropped },
): void {
  const isBatch = compileBody(app, looseBatch());
  const isEvent = compileBody(app, { $ref: 'AdEvent#' });
  app.post<{ Body: LooseBatch }>(
    '/v1/events',
    {
      bodyLimit,
      config: { keys: ['pk'] },
      schema: {
        operationId: 'reportEvents',
        summary: 'Report what happened to shown ads',
        body: { $ref: 'EventBatch#' },
        response: { 200: { description: 'One result per event.', $ref: 'EventBatchResult#' } },
      },
      // The documented schema would refuse the whole batch for one bad event.
      validatorCompiler: () => isBatch,
    },
    (request): Promise<EventBatchResult> => {
      const principal = principalOf(request);
      const { sent_at: sentAt, events, dropped } = request.body;
      if (dropped) noteDropped(principal, dropped);
      const submitted = events.map((event): Submitted =>
        isEvent(event) ? (event as AdEvent) : { id: event.id, malformed: true },
      );
      return takeIn(principal, sentAt, submitted, request.headers['user-agent']);
    },
  );
}
