import type { WebhookEvent } from '@trueward/protocol/wire';
import type { Scope, Queries } from '../store/database.ts';
import type { EventBodies } from './event-body.ts';

interface EventQuery {
  limit: number;
  startingAfter?: string;
  type?: WebhookEvent['type'];
}

/** Events as they are delivered, newest first; one more than `limit` when there are more. */
export async function listEvents(
  queries: Queries,
  bodies: EventBodies,
  scope: Scope,
  { limit, startingAfter, type }: EventQuery,
): Promise<WebhookEvent[]> {
  const rows = await queries.query<{ body: string }>(
    `SELECT body FROM webhook_events
      WHERE account_id = $1 AND environment = $2 AND ($3::text IS NULL OR id < $3)
        AND ($4::text IS NULL OR type = $4)
      ORDER BY id DESC LIMIT $5`,
    [scope.accountId, scope.environment, startingAfter ?? null, type ?? null, limit + 1],
  );
  return rows.map(({ body }) => JSON.parse(bodies.open(body)) as WebhookEvent);
}
