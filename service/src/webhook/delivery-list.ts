import type { Delivery, WebhookEvent } from '@trueward/protocol/wire';
import type { Environment } from '../access/principal.ts';
import type { Queries, Scope } from '../store/database.ts';
import type { EventBodies } from './event-writer.ts';

interface DeliveryRow {
  id: string;
  environment: Environment;
  webhook_id: string;
  event_id: string;
  event_type: Delivery['event_type'];
  state: Delivery['state'];
  attempts: Delivery['attempts'];
  next_at: Date | null;
  created_at: Date;
}

/**
 * Where deliveries in a state are. A condition on the state alone would read all that have finished, to find that none of
 * them is pending.
 */
const tablesByState = {
  pending: `(SELECT *, 'pending' AS state FROM delivery_queue)`,
  delivered: '(SELECT *, NULL::timestamptz AS next_at FROM finished_deliveries)',
  failed: '(SELECT *, NULL::timestamptz AS next_at FROM finished_deliveries)',
} as const;

const selectFrom = (
  table: string,
): string => `SELECT d.id, d.environment, d.webhook_id, d.event_id, e.type AS event_type, d.state, d.attempts, d.next_at,
    d.created_at FROM ${table} d JOIN webhook_events e
    ON e.account_id = d.account_id AND e.environment = d.environment AND e.id = d.event_id
  WHERE d.account_id = $1 AND d.environment = $2`;
const selectDeliveries = selectFrom('deliveries');

/** The filter and page for a delivery list. */
interface DeliveryQuery {
  limit: number;
  startingAfter?: string;
  state?: Delivery['state'];
}

/**
 * Lists a webhook's deliveries with their attempts, newest first. Returns `limit` + 1 rows if there is another page.
 */
export async function listDeliveries(
  queries: Queries,
  scope: Scope,
  webhookId: string,
  { limit, startingAfter, state }: DeliveryQuery,
): Promise<Delivery[]> {
  const rows = await queries.query<DeliveryRow>(
    `${state === undefined ? selectDeliveries : selectFrom(tablesByState[state])} AND d.webhook_id = $3 AND ($4::text IS NULL OR d.id < $4)
        AND ($5::text IS NULL OR d.state = $5)
      ORDER BY d.id DESC LIMIT $6`,
    [
      scope.accountId,
      scope.environment,
      webhookId,
      startingAfter ?? null,
      state ?? null,
      limit + 1,
    ],
  );
  return rows.map(toDelivery);
}

export async function findDelivery(
  queries: Queries,
  scope: Scope,
  id: string,
): Promise<Delivery | undefined> {
  const [row] = await queries.query<DeliveryRow>(`${selectDeliveries} AND d.id = $3`, [
    scope.accountId,
    scope.environment,
    id,
  ]);
  return row && toDelivery(row);
}

/** Lists the deliveries for several events, oldest first. */
export async function listEventDeliveries(
  queries: Queries,
  scope: Scope,
  eventIds: readonly string[],
): Promise<Delivery[]> {
  if (eventIds.length === 0) return [];
  const rows = await queries.query<DeliveryRow>(
    `${selectDeliveries} AND d.event_id IN (SELECT jsonb_array_elements_text($3::text::jsonb)) ORDER BY d.id`,
    [scope.accountId, scope.environment, JSON.stringify(eventIds)],
  );
  return rows.map(toDelivery);
}

const toDelivery = ({ next_at, created_at, ...row }: DeliveryRow): Delivery => ({
  ...row,
  ...(next_at === null ? {} : { next_attempt_at: next_at.toISOString() }),
  created_at: created_at.toISOString(),
});

interface EventQuery {
  limit: number;
  startingAfter?: string;
  type?: WebhookEvent['type'];
}

/**
 * Lists webhook events in the form in which they are delivered, newest first. Returns `limit` + 1 rows if there is
 * another page.
 */
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
