import type { Meter } from '../service/meter.ts';
import { firstIdAt } from '../../../service/src/platform/ids.ts';
import { openPostgres } from '../../../service/src/store/postgres.ts';
import { createPartitions } from '../../../service/src/store/partitions.ts';

const hourMs = 3_600_000;
const days = 28;

/** Whose history is generated. */
export interface Owner {
  accountId: string;
  webhookId: string;
}

/**
 * Adds events of the last four weeks and their finished deliveries, `count` of each, in the live environment. One
 * delivery in a thousand failed. One event in a hundred thousand is of the rare type.
 */
export async function addHistory(
  { query }: Meter,
  databaseUrl: string,
  { accountId, webhookId }: Owner,
  count: number,
): Promise<void> {
  const database = openPostgres(databaseUrl, console.error);
  for (let day = 0; day <= days; day += 7)
    await createPartitions(database, Date.now() - day * 24 * hourMs);
  await database.close();
  const hours = days * 24;
  const nowMs = Date.now();
  const perHour = Math.ceil(count / hours);
  for (let hour = hours; hour > 0; hour -= 24) {
    const times = Array.from({ length: 24 }, (_, index) =>
      firstIdAt('webhookEvent', nowMs - (hour - index) * hourMs).slice(4, 14),
    );
    await query(
      `WITH made AS MATERIALIZED (
          SELECT prefix || substr(md5(prefix || n || $5), 1, 16) AS id, n FROM unnest($3::text[]) AS prefix, generate_series(1, $4::integer) AS n),
        events AS (
          INSERT INTO webhook_events (account_id, id, environment, type, body, created_at)
            SELECT $1, 'evt_' || id, 'live', CASE WHEN n % 100000 = 7 THEN 'creative.review_updated' ELSE 'decision.rewarded' END,
              '{"id":"evt_' || id || '","type":"decision.rewarded","created_at":"2026-01-01T00:00:00.000Z","environment":"live","data":{"decision_id":"dec_'
                || id || '","placement":"revive","user_ref":"player-' || n || '","reward":{"type":"coins","amount":50},"evidence":{"receipt":"'
                || repeat(md5(id), 6) || '"}}}', now() FROM made)
        INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
          SELECT $1, 'del_' || id, 'live', 'evt_' || id, $2, CASE WHEN n % 1000 = 3 THEN 'failed' ELSE 'delivered' END,
            '[{"attempt": 1, "started_at": "2026-01-01T00:00:00.000Z", "latency_ms": 12, "status": 200, "response": ""}]', now() FROM made`,
      [accountId, webhookId, times, perHour, String(count)],
    );
  }
  await query('VACUUM ANALYZE');
  await query('CHECKPOINT');
}

const groupsPerPeriod = 400;

/** Adds a quarter's roll-ups: two weeks of hours, and days before that. */
export async function addRollups({ query }: Meter, accountId: string): Promise<void> {
  const today = Math.floor(Date.now() / (24 * hourMs)) * 24 * hourMs;
  const starts = [
    ...Array.from({ length: 14 * 24 }, (_, index) => today - (index + 1) * hourMs),
    ...Array.from({ length: 76 }, (_, index) => today - (15 + index) * 24 * hourMs),
  ];
  await query(
    `INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason, count)
      SELECT $1, 'live', hour, 'placement-' || n % 8, 'crv_' || n % 40, '', '', '', 'filled', n::text, 1000
        FROM unnest($2::timestamptz[]) AS hour, generate_series(1, $3::integer) AS n`,
    [accountId, starts.map((ms) => new Date(ms).toISOString()), groupsPerPeriod],
  );
}
