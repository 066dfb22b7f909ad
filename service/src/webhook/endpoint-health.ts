import type { Queries } from '../store/database.ts';
import type { DueDelivery } from './delivery-store.ts';

/** How long a webhook has been failing, or `undefined` since its last attempt succeeded. */
export interface Failing {
  sinceMs: number;
  attempts: number;
}

/** Writes down that an attempt failed or succeeded; hands back how long it has been failing. */
export async function recordHealth(
  queries: Queries,
  { accountId, webhookId }: DueDelivery,
  succeeded: boolean,
  nowMs: number,
): Promise<Failing | undefined> {
  if (succeeded) {
    await queries.query('DELETE FROM webhook_failures WHERE account_id = $1 AND webhook_id = $2', [
      accountId,
      webhookId,
    ]);
    return undefined;
  }
  const [row] = await queries.query<{ since: Date; attempts: number }>(
    `INSERT INTO webhook_failures (account_id, webhook_id, since, attempts) VALUES ($1, $2, $3, 1)
      ON CONFLICT (account_id, webhook_id) DO UPDATE SET attempts = webhook_failures.attempts + 1
      RETURNING since, attempts`,
    [accountId, webhookId, new Date(nowMs)],
  );
  return row && { sinceMs: row.since.getTime(), attempts: row.attempts };
}

/**
 * Gives a webhook that was enabled again its days anew. It stays suspect: one delivery at a time is
 * tried until one succeeds.
 */
export async function startAnew(
  queries: Queries,
  { accountId, webhookId }: Pick<DueDelivery, 'accountId' | 'webhookId'>,
  nowMs: number,
): Promise<void> {
  await queries.query(
    'UPDATE webhook_failures SET since = $3 WHERE account_id = $1 AND webhook_id = $2',
    [accountId, webhookId, new Date(nowMs)],
  );
}

/** A webhook that failed for so long is taken out of use. */
const disableAfterMs = 5 * 86_400_000;

export const isBeyondHope = (failing: Failing | undefined, nowMs: number): boolean =>
  failing !== undefined && nowMs - failing.sinceMs >= disableAfterMs;
