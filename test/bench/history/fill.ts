import { firstIdAt } from '../../../service/src/platform/ids.ts';
import type { Database } from '../../../service/src/store/database.ts';
import { createPartitions } from '../../../service/src/store/partitions.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const days = 28;

/** Whose history is generated. */
export interface Owner {
  accountId: string;
  webhookId: string;
  /** The pseudonym of a player who has one in 200 decisions and events. */
  viewer: string;
}

const eventBody = `'{"id":"evt_' || id || '","type":"decision.rewarded","created_at":"2026-01-01T00:00:00.000Z",
  "environment":"live","data":{"decision_id":"dec_' || id || '","placement":"revive","user_ref":"player-' || n
  || '","reward":{"type":"coins","amount":50},"evidence":{"receipt":"' || repeat(md5(id), 6) || '"}}}'`;

/** `$1` is the account, `$2` the webhook, `$3` a player, `$4` the time in the ids, `$5` what makes them unique. */
const addHour = `WITH made AS MATERIALIZED (
    SELECT $4 || substr(md5($4 || n || $5), 1, 16) AS id, n, CASE WHEN n % 200 = 0 THEN $3 END AS viewer,
        to_timestamp($7::bigint / 1000.0) AS at FROM generate_series(1, $6::integer) AS n),
  events AS (
    INSERT INTO webhook_events (account_id, id, environment, type, body, created_at, viewer)
      SELECT $1, 'evt_' || id, 'live', CASE WHEN n % 100000 = 7 THEN 'creative.review_updated' ELSE 'decision.rewarded' END,
        ${eventBody}, at, coalesce(viewer, md5(id)) FROM made),
  decided AS (
    INSERT INTO decisions (account_id, id, environment, status, placement, format, viewer, issued_at, expires_at, late_at,
        served_at, reward_state)
      SELECT $1, 'dec_' || id, 'live', 'filled', CASE WHEN n % 400 = 0 THEN 'rare' ELSE 'revive' END, 'rewarded',
        coalesce(viewer, md5(id)), at, at, at, at, 'earned' FROM made WHERE n % 4 = 0),
  reported AS (
    INSERT INTO timelines (account_id, decision_id, events)
      SELECT $1, 'dec_' || id, '[' || $7 || ',["~1","s",0,0],["~2","c",5000,0]]' FROM made WHERE n % 4 = 0)
  INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
    SELECT $1, 'del_' || id, 'live', 'evt_' || id, $2, CASE WHEN n % 1000 = 3 THEN 'failed' ELSE 'delivered' END,
      '[{"attempt": 1, "started_at": "2026-01-01T00:00:00.000Z", "latency_ms": 12, "status": 200, "response": ""}]', at FROM made`;

/**
 * Adds events of the last four weeks and their finished deliveries, `count` of each, in the live environment, and a
 * quarter as many decisions with their events. One delivery in a thousand failed. One event in a hundred thousand is of
 * the rare type.
 */
export async function addHistory(database: Database, owner: Owner, count: number): Promise<void> {
  for (let day = 0; day <= days; day += 7)
    await createPartitions(database, Date.now() - day * dayMs);
  const hours = days * 24;
  const nowMs = Date.now();
  for (let hour = hours; hour > 0; hour -= 1) {
    const atMs = nowMs - hour * hourMs;
    const time = firstIdAt('webhookEvent', atMs).slice(4, 14);
    const { accountId, webhookId, viewer } = owner;
    await database.query(addHour, [
      accountId,
      webhookId,
      viewer,
      time,
      String(count),
      Math.ceil(count / hours),
      String(atMs),
    ]);
    if (hour % 24 === 1 && count >= 1_000_000)
      console.log(`  ${hours - hour + 1} of ${hours} hours generated`);
  }
}

/**
 * Adds a quarter's roll-ups, two weeks of hours and days before that: in each, 8 placements with 10 creatives, and 5
 * metrics of each.
 */
export async function addRollups(database: Database, accountId: string): Promise<void> {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const starts = [
    ...Array.from({ length: 14 * 24 }, (_, index) => today - (index + 1) * hourMs),
    ...Array.from({ length: 76 }, (_, index) => today - (15 + index) * dayMs),
  ];
  await database.query(
    `INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id,
        metric, reason, count)
      SELECT $1, 'live', hour, 'placement-' || placement, 'crv_' || creative, 'src_1', 'adv_' || creative, '', metric, '', 1000
        FROM jsonb_array_elements_text($2::text::jsonb) AS start, LATERAL (SELECT start::timestamptz AS hour) AS hours,
          generate_series(1, 8) AS placement, generate_series(1, 10) AS creative,
          unnest(ARRAY['filled', 'impressions', 'starts', 'completes', 'rewards_earned']) AS metric
      ON CONFLICT DO NOTHING`,
    [accountId, JSON.stringify(starts.map((ms) => new Date(ms).toISOString()))],
  );
}
