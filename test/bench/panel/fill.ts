import type { Database } from '../../../service/src/store/database.ts';

/** The demo account's sandbox, and what its rows refer to. */
export interface Owner {
  accountId: string;
  webhookId: string;
  decisionId: string;
}

/** The kinds of managed objects, with the member that names one. */
const kinds = {
  placement: 'name',
  source: 'name',
  advertiser: 'name',
  creative: 'name',
  houseAd: 'name',
  policy: 'name',
  adRule: undefined,
  killSwitch: undefined,
  webhook: 'url',
} as const;

/** Adds `count` rows of every kind that the panel lists, as copies of the newest row. */
export async function addRows(database: Database, owner: Owner, count: number): Promise<void> {
  const { accountId, webhookId, decisionId } = owner;
  for (const [kind, name] of Object.entries(kinds)) {
    const named = name === undefined ? '' : `|| jsonb_build_object('${name}', 'Object ' || n)`;
    const url = kind === 'webhook' ? `|| jsonb_build_object('status', 'disabled')` : '';
    await database.query(
      `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
        SELECT account_id, environment, kind, substr(id, 1, 14) || lpad(n::text, 16, '0'), document ${named} ${url}, 1,
            created_at, updated_at
          FROM (SELECT * FROM resources WHERE account_id = $1 AND environment = 'sandbox' AND kind = $2
            AND archived_at IS NULL ORDER BY id DESC LIMIT 1) AS newest, generate_series(1, $3::integer) AS n`,
      [accountId, kind, count],
    );
  }
  const copy = (
    table: string,
    where: string,
    changes: string,
    values: unknown[],
  ): Promise<unknown> =>
    database.query(
      `INSERT INTO ${table} SELECT made.*
        FROM (SELECT * FROM ${table} WHERE account_id = $1 AND ${where} LIMIT 1) AS one, generate_series(1, $2::integer) AS n,
          LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(one) || jsonb_build_object(${changes})) AS made`,
      [accountId, count, ...values],
    );
  const idLike = `substr(id, 1, 14) || lpad(n::text, 16, '0')`;
  await copy(
    'keys',
    `environment = 'sandbox' AND kind = 'publishable'`,
    `'id', ${idLike}, 'hash', md5(n::text)`,
    [],
  );
  await copy('users', 'true', `'id', ${idLike}, 'email', n || '@example.com'`, []);
  await copy('audit_entries', `environment = 'sandbox'`, `'id', ${idLike}`, []);
  await copy('decisions', 'id = $3', `'id', ${idLike}`, [decisionId]);
  await copy(
    'timelines',
    'decision_id = $3',
    `'decision_id', substr(decision_id, 1, 14) || lpad(n::text, 16, '0')`,
    [decisionId],
  );
  await copy('wallet_entries', 'true', `'id', 'entry-' || n, 'version', n + 1, 'balance', n`, []);
  await database.query(
    `INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
      SELECT account_id, 'del_' || substr(id, 5, 10) || lpad(n::text, 16, '0'), environment, id, $2, CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'delivered' END,
        '[{"attempt": 1, "started_at": "2026-01-01T00:00:00.000Z", "latency_ms": 12, "status": 200, "response": ""}]', created_at
      FROM (SELECT * FROM webhook_events WHERE account_id = $1 LIMIT 1) AS one, generate_series(1, $3::integer) AS n`,
    [accountId, webhookId, count],
  );
  await addFigures(database, accountId, count);
  // The service's processes read the configuration again.
  await database.query('UPDATE config_versions SET version = version + 1 WHERE account_id = $1', [
    accountId,
  ]);
  for (const table of ['resources', 'rollups', 'decisions', 'audit_entries'])
    await database.query(`ANALYZE ${table}`);
}

const metrics = ['filled', 'impressions', 'starts', 'completes', 'clicks', 'rewards_earned'];

/** Adds a week of counts for each of the objects. */
async function addFigures(database: Database, accountId: string, count: number): Promise<void> {
  // One statement for all of them would take longer than a statement may.
  for (let row = 0; row < 7 * metrics.length; row += 1)
    await database.query(
      `WITH ids AS (
        SELECT n, (SELECT substr(max(id), 1, 14) FROM resources WHERE account_id = $1 AND kind = 'creative') AS creative,
          (SELECT substr(max(id), 1, 14) FROM resources WHERE account_id = $1 AND kind = 'advertiser') AS advertiser,
          (SELECT substr(max(id), 1, 14) FROM resources WHERE account_id = $1 AND kind = 'houseAd') AS house_ad,
          lpad(n::text, 16, '0') AS suffix
        FROM generate_series(1, $2::integer) AS n)
      INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason, count)
        SELECT $1, 'sandbox', date_trunc('day', now(), 'UTC') - $3::integer * interval '1 day', 'Object ' || n, creative || suffix, '',
          advertiser || suffix, house_ad || suffix, $4, '', n
        FROM ids`,
      [accountId, count, row % 7, metrics[row % metrics.length]],
    );
}
