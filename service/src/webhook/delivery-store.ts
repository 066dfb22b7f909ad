import type { Environment } from '../access/principal.ts';
import { formatInstant } from '../platform/time.ts';
import type { MakeId } from '../platform/ids.ts';
import type { Queries, Scope } from '../store/database.ts';

/** A claimed delivery. */
export interface DueDelivery {
  accountId: string;
  id: string;
  eventId: string;
  webhookId: string;
  environment: Environment;
  /** Number of previous attempts. */
  attempt: number;
  /** The stored event. Null if the event no longer exists. */
  body: string | null;
}

/** How many more deliveries an endpoint may receive. */
export interface EndpointCapacity {
  accountId: string;
  webhookId: string;
  free: number;
}

/** How many more deliveries an account's endpoints may receive in total. */
export interface AccountCapacity {
  accountId: string;
  free: number;
}

export interface Claim {
  endpoints: readonly EndpointCapacity[];
  /** The capacity of endpoints that are not in `endpoints`. */
  perEndpoint: number;
  accounts: readonly AccountCapacity[];
  /** The capacity of accounts that are not in `accounts`. */
  perAccount: number;
  /** Maximum number of deliveries across all endpoints. */
  limit: number;
  leaseMs: number;
  nowMs: number;
}

/** Number of consecutive failures after which an endpoint is suspect. */
const suspectAfter = 5;

/**
 * Claims due deliveries, round-robin across endpoints, and reads their events. A dead endpoint may have a backlog of
 * hundreds of thousands of deliveries, which must not slow down other endpoints. Therefore, the statement reads only
 * the head of each endpoint's queue. A suspect endpoint receives one delivery at a time (a half-open circuit breaker).
 * While the delivery at the head of its queue is leased, the endpoint receives no other delivery.
 *
 * Rows are selected without a lock, because the UPDATE checks again whether they are due. (SKIP LOCKED doesn't work
 * across shards.)
 *
 * `chosen` converts the rows to arrays and back. The planner assumes that an array has ten elements, and therefore
 * looks up each delivery and event by id. Without the arrays, its estimate is too high, and it scans both tables. This
 * takes 10 ms with a backlog of 10,000.
 */
const claimDueDeliveries = `WITH head AS (
    SELECT r.account_id, r.id AS webhook_id, due.id, due.next_at,
      row_number() OVER (PARTITION BY r.account_id, r.id ORDER BY due.next_at, due.id) AS place
    FROM resources r
    LEFT JOIN webhook_failures f
      ON f.account_id = r.account_id AND f.webhook_id = r.id AND f.attempts >= $1
    LEFT JOIN (SELECT unnest($2::text[]) AS account_id, unnest($3::text[]) AS webhook_id,
        unnest($4::integer[]) AS free) AS room
      ON room.account_id = r.account_id AND room.webhook_id = r.id
    CROSS JOIN LATERAL (
      SELECT id, next_at, lease_until FROM delivery_queue
      WHERE account_id = r.account_id AND webhook_id = r.id AND next_at <= $11::timestamptz
        AND (f.webhook_id IS NOT NULL OR lease_until IS NULL OR lease_until <= $11::timestamptz)
      ORDER BY next_at, id
      LIMIT least(coalesce(room.free, $5::integer), CASE WHEN f.webhook_id IS NULL THEN NULL ELSE 1 END)) AS due
    WHERE r.kind = 'webhook' AND (due.lease_until IS NULL OR due.lease_until <= $11::timestamptz)
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY account_id ORDER BY place, next_at, id) AS account_place FROM head
  ), turns AS (
    SELECT ranked.account_id, ranked.id FROM ranked
    LEFT JOIN (SELECT unnest($8::text[]) AS account_id, unnest($9::integer[]) AS free) AS share
      ON share.account_id = ranked.account_id
    WHERE account_place <= coalesce(share.free, $10::integer)
    ORDER BY place, next_at, id LIMIT $6::integer
  ), chosen AS (
    SELECT unnest(array_agg(account_id)) AS account_id, unnest(array_agg(id)) AS id FROM turns),
  claimed AS (
    UPDATE delivery_queue AS queue SET lease_until = $11::timestamptz + $7::float8 * interval '1 millisecond'
    FROM chosen
    WHERE queue.account_id = chosen.account_id AND queue.id = chosen.id AND queue.next_at <= $11::timestamptz
      AND (lease_until IS NULL OR lease_until <= $11::timestamptz)
    RETURNING queue.*)
  SELECT claimed.account_id AS "accountId", claimed.id, claimed.event_id AS "eventId",
    claimed.webhook_id AS "webhookId", claimed.environment, claimed.attempt, events.body
  FROM claimed
  LEFT JOIN webhook_events AS events
    ON events.account_id = claimed.account_id AND events.environment = claimed.environment
      AND events.id = claimed.event_id
  ORDER BY claimed.next_at, claimed.id`;

export const claimDue = (
  queries: Queries,
  { endpoints, perEndpoint, accounts, perAccount, limit, leaseMs, nowMs }: Claim,
): Promise<DueDelivery[]> =>
  queries.query<DueDelivery>(claimDueDeliveries, [
    suspectAfter,
    endpoints.map(({ accountId }) => accountId),
    endpoints.map(({ webhookId }) => webhookId),
    endpoints.map(({ free }) => free),
    perEndpoint,
    limit,
    leaseMs,
    accounts.map(({ accountId }) => accountId),
    accounts.map(({ free }) => free),
    perAccount,
    formatInstant(nowMs),
  ]);

/** Renews the leases of deliveries that are still in progress. A lease that was lost is not taken back. */
export async function renewLeases(
  queries: Pick<Queries, 'query'>,
  deliveries: readonly DueDelivery[],
  { leaseMs, nowMs }: Pick<Claim, 'leaseMs' | 'nowMs'>,
): Promise<void> {
  await queries.query(
    `UPDATE delivery_queue AS queue SET lease_until = $5::timestamptz + $4::float8 * interval '1 millisecond'
      FROM (SELECT unnest($1::text[]) AS account_id, unnest($2::text[]) AS id, unnest($3::integer[]) AS attempt) AS held
      WHERE queue.account_id = held.account_id AND queue.id = held.id AND queue.attempt = held.attempt
        AND lease_until > $5::timestamptz`,
    [
      deliveries.map(({ accountId }) => accountId),
      deliveries.map(({ id }) => id),
      deliveries.map(({ attempt }) => attempt),
      leaseMs,
      formatInstant(nowMs),
    ],
  );
}

/** Ends a delivery's lease without recording an attempt. */
export async function release(queries: Queries, delivery: DueDelivery): Promise<void> {
  await queries.query(
    `UPDATE delivery_queue SET lease_until = NULL WHERE account_id = $1 AND id = $2 AND attempt = $3`,
    [delivery.accountId, delivery.id, delivery.attempt],
  );
}

/**
 * Ends all leases. Used at startup with an embedded database, because no other process can hold a lease at that time.
 */
export async function releaseAll(queries: Queries): Promise<void> {
  await queries.query('UPDATE delivery_queue SET lease_until = NULL WHERE lease_until IS NOT NULL');
}

/** Queues a delivery to a webhook for each event. Returns the deliveries' ids. */
export async function queueDeliveries(
  {
    queries,
    scope,
    makeId,
    nowMs,
  }: { queries: Queries; scope: Scope; makeId: MakeId; nowMs: number },
  webhookId: string,
  eventIds: readonly string[],
): Promise<string[]> {
  if (eventIds.length === 0) return [];
  const rows = eventIds.map((event_id) => ({ id: makeId('delivery'), event_id }));
  await queries.query(
    `INSERT INTO delivery_queue (account_id, id, environment, event_id, webhook_id, attempt, next_at, created_at)
      SELECT $1, id, $2, event_id, $3, 0, $4::timestamptz, $4::timestamptz
      FROM jsonb_to_recordset($5::text::jsonb) AS row(id text, event_id text)`,
    [scope.accountId, scope.environment, webhookId, formatInstant(nowMs), JSON.stringify(rows)],
  );
  return rows.map(({ id }) => id);
}
