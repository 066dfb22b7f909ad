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
 */
export async function readDue(
  queries: Queries,
  perWebhook: number,
  limit: number,
): Promise<DueDelivery[]> {
  return queries.query<DueDelivery>(
    `SELECT account_id AS "accountId", id, event_id AS "eventId", webhook_id AS "webhookId", environment, attempt
      FROM (
        SELECT account_id, webhook_id, d.id, d.event_id, d.environment, d.attempt, d.next_at,
          row_number() OVER (PARTITION BY account_id, webhook_id ORDER BY next_at, id) AS place,
          f.attempts >= $3 AS suspect
        FROM deliveries d LEFT JOIN webhook_failures f USING (account_id, webhook_id)
        WHERE state = 'pending' AND next_at <= now() AND (lease_until IS NULL OR lease_until <= now())
      ) AS due
      WHERE place <= $1 AND (suspect IS NOT TRUE OR place = 1 AND NOT EXISTS (
        SELECT 1 FROM deliveries b WHERE b.account_id = due.account_id AND b.webhook_id = due.webhook_id
          AND b.state = 'pending' AND b.lease_until > now()))
      ORDER BY next_at, id LIMIT $2`,
    [perWebhook, limit, suspectAfter],
  );
}

/** In how many milliseconds the next delivery is due that is not under way; below 0: it is overdue. */
export async function readNextDue(queries: Queries): Promise<number | undefined> {
  const [row] = await queries.query<{ ms: number | null }>(
    `SELECT extract(epoch FROM min(greatest(next_at, coalesce(lease_until, next_at))) - now())::float8 * 1000 AS ms
      FROM deliveries WHERE state = 'pending'`,
  );
  return row?.ms ?? undefined;
}

/**
 * Takes a delivery for `leaseMs`; false when another process was faster. The count of attempts is
 * part of the condition, so no lock is needed (SKIP LOCKED does not work across shards).
 */
export async function claim(
  queries: Queries,
  delivery: DueDelivery,
  leaseMs: number,
): Promise<boolean> {
  const rows = await queries.query(
    `UPDATE deliveries SET lease_until = now() + $4::float8 * interval '1 millisecond'
      WHERE account_id = $1 AND id = $2 AND attempt = $3 AND state = 'pending' AND (lease_until IS NULL OR lease_until <= now())
      RETURNING id`,
    [delivery.accountId, delivery.id, delivery.attempt, leaseMs],
  );
  return rows.length > 0;
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
