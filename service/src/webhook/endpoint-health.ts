import { formatInstant } from '../platform/time.ts';
import type { Queries } from '../store/database.ts';
import { forAccount } from '../store/unnest.ts';
import type { DueDelivery } from './delivery-store.ts';

/** An endpoint's consecutive failures. */
export interface ConsecutiveFailures {
  sinceMs: number;
  attempts: number;
}

/** Adds failures to their endpoints' counts of consecutive failures. Returns the new counts by webhook. */
export async function recordFailures(
  queries: Queries,
  accountId: string,
  failures: ReadonlyMap<string, { times: number; firstAtMs: number }>,
): Promise<Map<string, ConsecutiveFailures>> {
  const rows = await queries.query<{ webhook_id: string; since: Date; attempts: number }>(
    `INSERT INTO webhook_failures (account_id, webhook_id, since, attempts)
      ${forAccount('unnest($2::text[]), unnest($3::timestamptz[]), unnest($4::integer[])')}
      ON CONFLICT (account_id, webhook_id)
        DO UPDATE SET attempts = webhook_failures.attempts + excluded.attempts
      RETURNING webhook_id, since, attempts`,
    [
      accountId,
      [...failures.keys()],
      [...failures.values()].map(({ firstAtMs }) => formatInstant(firstAtMs)),
      [...failures.values()].map(({ times }) => times),
    ],
  );
  return new Map(
    rows.map(({ webhook_id, since, attempts }) => [
      webhook_id,
      { sinceMs: since.getTime(), attempts },
    ]),
  );
}

/** Resets an endpoint's count of consecutive failures. */
export async function clearFailures(
  queries: Queries,
  { accountId, webhookId }: Pick<DueDelivery, 'accountId' | 'webhookId'>,
): Promise<void> {
  await queries.query('DELETE FROM webhook_failures WHERE account_id = $1 AND webhook_id = $2', [
    accountId,
    webhookId,
  ]);
}

/**
 * Restarts the period after which a failing endpoint is disabled. Must be called when an operator enables an endpoint.
 * The endpoint stays suspect and receives one delivery at a time until a delivery succeeds.
 */
export async function restartFailurePeriod(
  queries: Queries,
  { accountId, webhookId }: Pick<DueDelivery, 'accountId' | 'webhookId'>,
  nowMs: number,
): Promise<void> {
  await queries.query(
    'UPDATE webhook_failures SET since = $3 WHERE account_id = $1 AND webhook_id = $2',
    [accountId, webhookId, new Date(nowMs)],
  );
}

/** Claims the next probe of a disabled webhook. Returns true once per `intervalMs`, in only one of the processes. */
export async function claimProbe(
  queries: Queries,
  { accountId, webhookId }: Pick<DueDelivery, 'accountId' | 'webhookId'>,
  nowMs: number,
  intervalMs: number,
): Promise<boolean> {
  const claimedRows = await queries.query(
    `INSERT INTO webhook_failures AS known (account_id, webhook_id, since, attempts, probed_at)
      VALUES ($1, $2, $3, 0, $3)
      ON CONFLICT (account_id, webhook_id) DO UPDATE SET probed_at = $3
        WHERE known.probed_at IS NULL OR known.probed_at <= $4
      RETURNING webhook_id`,
    [accountId, webhookId, new Date(nowMs), new Date(nowMs - intervalMs)],
  );
  return claimedRows.length > 0;
}

/** How long deliveries must fail before their webhook is disabled. */
export const disableAfterMs = 5 * 86_400_000;

export const shouldDisable = (failures: ConsecutiveFailures | undefined, nowMs: number): boolean =>
  failures !== undefined && nowMs - failures.sinceMs >= disableAfterMs;
