import { firstIdAt } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';

const eventsAtOnce = 500;
const listed = `IN (SELECT jsonb_array_elements_text($2::text::jsonb))`;

/**
 * Removes events from before `beforeMs` with their deliveries and attempts; hands back how many events.
 * One that is still being delivered, because somebody asked for it again, waits.
 */
export async function removeOldWebhookEvents(
  database: Database,
  accountId: string,
  beforeMs: number,
  stopping: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    if (stopping.aborted) return removed;
    const events = await database.transaction(async (queries) => {
      const rows = await queries.query<{ id: string }>(
        `SELECT id FROM webhook_events e WHERE account_id = $1 AND id < $2
          AND NOT EXISTS (SELECT 1 FROM deliveries d
            WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')
          ORDER BY id LIMIT $3`,
        [accountId, firstIdAt('webhookEvent', beforeMs), eventsAtOnce],
      );
      const ids = JSON.stringify(rows.map(({ id }) => id));
      for (const statement of [
        `DELETE FROM delivery_attempts WHERE account_id = $1 AND delivery_id IN (
          SELECT id FROM deliveries WHERE account_id = $1 AND event_id ${listed})`,
        `DELETE FROM deliveries WHERE account_id = $1 AND event_id ${listed}`,
        `DELETE FROM webhook_events WHERE account_id = $1 AND id ${listed}`,
      ])
        await queries.query(statement, [accountId, ids]);
      return rows.length;
    });
    removed += events;
    if (events < eventsAtOnce) return removed;
  }
}
