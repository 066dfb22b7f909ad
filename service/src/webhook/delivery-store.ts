import type { Environment } from '../key/key-text.ts';
import type { Queries } from '../store/database.ts';

/** A delivery that was claimed for an attempt. */
export interface DueDelivery {
  accountId: string;
  id: string;
  eventId: string;
  webhookId: string;
  environment: Environment;
  /** Attempts made so far. */
  attempt: number;
  /** The event as it is stored; null when it is not there any more. */
  body: string | null;
}

/** How many deliveries an endpoint may get now; endpoints that are not named get {@link Claim.perEndpoint}. */
export interface Room {
  accountId: string;
  webhookId: string;
  free: number;
}

/** How many deliveries the endpoints of an account may get together; others get {@link Claim.perAccount}. */
export interface Share {
  accountId: string;
  free: number;
}

export interface Claim {
  rooms: readonly Room[];
  perEndpoint: number;
  shares: readonly Share[];
  perAccount: number;
  /** Deliveries of all endpoints together. */
  limit: number;
  leaseMs: number;
}

/** So many failures in a row make an endpoint suspect. */
const suspectAfter = 5;

/*
 * When a delivery is due and until when it is leased is decided by the clock of the database alone:
 * those of the processes may differ by more than a lease. `now()` and not `clock_timestamp()`, which
 * no distributed engine takes in a condition of a change.
 */

/**
 * Claims deliveries that are due, in turns by endpoint, and reads their events. Goes from endpoint to
 * endpoint and reads the head of each queue, because a dead one has hundreds of thousands waiting, which must
 * not cost the others anything. A suspect endpoint gets one delivery at a time (a half-open circuit): it
 * either brings the endpoint back or spares it, and us, the rest. While the head of its queue is leased it gets
 * none; whatever is leased is at the head, because what becomes due later comes behind it.
 *
 * Rows are claimed only while they are due, so no lock is needed (SKIP LOCKED does not work across shards).
 * `NOT IN`, where rows are found by their ids: `state = 'pending'` would fit an index of all that waits, by which
 * the planner may go until the table has been analyzed (12 ms a row with 120,000 waiting). `chosen` goes through
 * arrays because the planner expects ten rows of an array: it then looks up each delivery and event by its id. From
 * its own estimate, which is too high, it reads both tables as a whole (10 ms with 10,000 waiting).
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
      SELECT id, next_at, lease_until FROM deliveries
      WHERE account_id = r.account_id AND webhook_id = r.id AND state = 'pending' AND next_at <= now()
        AND (f.webhook_id IS NOT NULL OR lease_until IS NULL OR lease_until <= now())
      ORDER BY next_at, id
      LIMIT least(coalesce(room.free, $5::integer), CASE WHEN f.webhook_id IS NULL THEN NULL ELSE 1 END)) AS due
    WHERE r.kind = 'webhook' AND (due.lease_until IS NULL OR due.lease_until <= now())
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
    UPDATE deliveries SET lease_until = now() + $7::float8 * interval '1 millisecond'
    FROM chosen
    WHERE deliveries.account_id = chosen.account_id AND deliveries.id = chosen.id
      AND state NOT IN ('delivered', 'failed') AND deliveries.next_at <= now()
      AND (lease_until IS NULL OR lease_until <= now())
    RETURNING deliveries.*)
  SELECT claimed.account_id AS "accountId", claimed.id, claimed.event_id AS "eventId",
    claimed.webhook_id AS "webhookId", claimed.environment, claimed.attempt, events.body
  FROM claimed
  LEFT JOIN webhook_events AS events
    ON events.account_id = claimed.account_id AND events.id = claimed.event_id
  ORDER BY claimed.next_at, claimed.id`;

export const claimDue = (
  queries: Queries,
  { rooms, perEndpoint, shares, perAccount, limit, leaseMs }: Claim,
): Promise<DueDelivery[]> =>
  queries.query<DueDelivery>(claimDueDeliveries, [
    suspectAfter,
    rooms.map(({ accountId }) => accountId),
    rooms.map(({ webhookId }) => webhookId),
    rooms.map(({ free }) => free),
    perEndpoint,
    limit,
    leaseMs,
    shares.map(({ accountId }) => accountId),
    shares.map(({ free }) => free),
    perAccount,
  ]);

/** Returns a delivery without an attempt. */
export async function release(queries: Queries, delivery: DueDelivery): Promise<void> {
  await queries.query(
    `UPDATE deliveries SET lease_until = NULL WHERE account_id = $1 AND id = $2 AND attempt = $3`,
    [delivery.accountId, delivery.id, delivery.attempt],
  );
}

/** Ends all leases. Only where no other process can have one: at the start on an embedded database. */
export async function releaseAll(queries: Queries): Promise<void> {
  await queries.query('UPDATE deliveries SET lease_until = NULL WHERE lease_until IS NOT NULL');
}
