import type { Queries } from '../store/database.ts';
import type { AttemptResult } from './sender.ts';

/** A delivery whose turn it is. */
export interface DueDelivery {
  accountId: string;
  id: string;
  eventId: string;
  webhookId: string;
  environment: 'sandbox' | 'live';
  /** Attempts made so far. */
  attempt: number;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** So many failures in a row make an endpoint suspect. */
const suspectAfter = 5;

/*
 * When a delivery is due and until when it is leased is told by the clock of the database alone:
 * those of the processes may differ by more than a lease. `now()` and not `clock_timestamp()`, which
 * no distributed engine takes in a condition of a change.
 */

/**
 * The next deliveries, at most `perWebhook` of each endpoint, so that a slow one does not fill the
 * list. A suspect endpoint gets one at a time (a half-open circuit): the probe either brings it
 * back or spares it, and us, the rest.
 *
 * Goes from endpoint to endpoint and looks at the head of each queue: a dead one has hundreds of
 * thousands waiting, which must not cost the others anything.
 */
export async function readDue(
  queries: Queries,
  perWebhook: number,
  limit: number,
): Promise<DueDelivery[]> {
  return queries.query<DueDelivery>(
    `SELECT account_id AS "accountId", id, event_id AS "eventId", webhook_id AS "webhookId", environment, attempt
      FROM (
        SELECT r.account_id, r.id AS webhook_id, d.*, f.attempts >= $3 AS suspect,
          row_number() OVER (PARTITION BY r.account_id, r.id, leased ORDER BY next_at, d.id) AS place,
          bool_or(leased) OVER (PARTITION BY r.account_id, r.id) AS busy
        FROM resources r
        LEFT JOIN webhook_failures f ON f.account_id = r.account_id AND f.webhook_id = r.id
        CROSS JOIN LATERAL (
          SELECT id, event_id, environment, attempt, next_at, coalesce(lease_until > now(), false) AS leased
          FROM deliveries
          WHERE account_id = r.account_id AND webhook_id = r.id AND state = 'pending' AND next_at <= now()
          ORDER BY next_at, id LIMIT $4) d
        WHERE r.kind = 'webhook'
      ) AS due
      WHERE NOT leased AND place <= $1 AND (suspect IS NOT TRUE OR place = 1 AND NOT busy)
      ORDER BY next_at, id LIMIT $2`,
    [perWebhook, limit, suspectAfter, headPerSlot * perWebhook],
  );
}

/** So much of a queue is looked at, since those that are under way are at its head. */
const headPerSlot = 4;

/** In how many milliseconds the next delivery will be due that is not due yet. */
export async function readNextDue(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.query<{ ms: number | null }>(
    `SELECT extract(epoch FROM min(next_at) - now())::float8 * 1000 AS ms
      FROM deliveries WHERE state = 'pending' AND next_at > now()`,
  );
  return row?.ms ?? undefined;
}

/**
 * Takes deliveries for `leaseMs`, and hands back those that no other process was faster to take. It
 * takes them only while they are due, so no lock is needed (SKIP LOCKED does not work across shards).
 */
export async function claim(
  queries: Queries,
  deliveries: readonly DueDelivery[],
  leaseMs: number,
): Promise<DueDelivery[]> {
  const claimed = new Map<string, number>();
  for (const accountId of new Set(deliveries.map((each) => each.accountId))) {
    const ids = deliveries.filter((each) => each.accountId === accountId).map(({ id }) => id);
    const rows = await queries.query<{ id: string; attempt: number }>(
      `UPDATE deliveries SET lease_until = now() + $3::float8 * interval '1 millisecond'
        WHERE account_id = $1 AND id = ANY($2::text[]) AND state = 'pending' AND next_at <= now()
          AND (lease_until IS NULL OR lease_until <= now())
        RETURNING id, attempt`,
      [accountId, ids, leaseMs],
    );
    for (const { id, attempt } of rows) claimed.set(id, attempt);
  }
  return deliveries.flatMap((delivery) => {
    const attempt = claimed.get(delivery.id);
    return attempt === undefined ? [] : [{ ...delivery, attempt }];
  });
}

/** Gives a delivery back without an attempt. */
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

/** What follows from an attempt: delivered, given up, or to be tried again in `delayMs`. */
export type Next = { state: 'delivered' | 'failed' } | { state: 'pending'; delayMs: number };

/** Stores an attempt and what follows from it. */
export async function recordAttempt(
  queries: Queries,
  delivery: DueDelivery,
  result: AttemptResult,
  next: Next,
): Promise<void> {
  const attempt = delivery.attempt + 1;
  await queries.query(
    `INSERT INTO delivery_attempts (account_id, delivery_id, attempt, started_at, latency_ms, status, error, response)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [
      delivery.accountId,
      delivery.id,
      attempt,
      iso(result.startedAtMs),
      result.latencyMs,
      result.status ?? null,
      result.error ?? null,
      result.response ?? null,
    ],
  );
  await queries.query(
    `UPDATE deliveries SET state = $4, attempt = $5, lease_until = NULL, 
        next_at = coalesce(now() + $6::float8 * interval '1 millisecond', next_at)
      WHERE account_id = $1 AND id = $2 AND attempt = $3`,
    [
      delivery.accountId,
      delivery.id,
      delivery.attempt,
      next.state,
      attempt,
      next.state === 'pending' ? next.delayMs : null,
    ],
  );
}
