import type { Database } from '../../../service/src/store/database.ts';
import { defaultQuotas, type QuotaKind } from '../../../service/src/platform/quota-limits.ts';

/** The account whose sandbox is filled, and what its rows refer to. */
export interface Owner {
  accountId: string;
  webhookId: string;
  decisionId: string;
}

/** The kinds of managed objects: the quota that limits them, and the member that names one. */
const kinds: Record<string, { quota: QuotaKind; name?: string }> = {
  placement: { quota: 'placements', name: 'name' },
  source: { quota: 'sources', name: 'name' },
  advertiser: { quota: 'advertisers', name: 'name' },
  creative: { quota: 'creatives', name: 'name' },
  houseAd: { quota: 'house_ads', name: 'name' },
  policy: { quota: 'policies', name: 'name' },
  adRule: { quota: 'ad_rules' },
  killSwitch: { quota: 'kill_switches' },
  webhook: { quota: 'webhooks', name: 'url' },
};

/** How many objects of a kind there are. */
export interface Counts {
  /** The number of each kind, and of what no quota limits. */
  each: number;
  /** Whether the service's default quotas are kept, so that there are fewer of some kinds. */
  isWithinQuotas: boolean;
}

/** How many objects there are of a kind that a quota limits. Leaves room for those that are there already. */
export const countOf = ({ each, isWithinQuotas }: Counts, quota: QuotaKind): number =>
  isWithinQuotas ? Math.min(each, Math.floor(defaultQuotas[quota] * 0.9)) : each;

const idLike = `substr(id, 1, 14) || lpad(n::text, 16, '0')`;

/** Adds rows of every kind that the panel lists, as copies of the newest one. */
export async function addRows(database: Database, owner: Owner, counts: Counts): Promise<void> {
  const { accountId, webhookId, decisionId } = owner;
  for (const [kind, { quota, name }] of Object.entries(kinds)) {
    const named = name === undefined ? '' : `|| jsonb_build_object('${name}', 'Object ' || n)`;
    const disabled = kind === 'webhook' ? `|| jsonb_build_object('status', 'disabled')` : '';
    await database.query(
      `INSERT INTO resources (account_id, environment, kind, id, document, revision, created_at, updated_at)
        SELECT account_id, environment, kind, ${idLike}, document ${named} ${disabled}, 1, created_at, updated_at
          FROM (SELECT * FROM resources WHERE account_id = $1 AND environment = 'sandbox' AND kind = $2
            AND archived_at IS NULL ORDER BY id DESC LIMIT 1) AS newest, generate_series(1, $3::integer) AS n`,
      [accountId, kind, countOf(counts, quota)],
    );
  }
  const copy = async (
    table: string,
    where: string,
    changes: string,
    count: number,
    values: unknown[] = [],
  ): Promise<void> => {
    await database.query(
      `INSERT INTO ${table} SELECT made.*
        FROM (SELECT * FROM ${table} WHERE account_id = $1 AND ${where} LIMIT 1) AS one, generate_series(1, $2::integer) AS n,
          LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(one) || jsonb_build_object(${changes})) AS made`,
      [accountId, count, ...values],
    );
  };
  const { each } = counts;
  await copy(
    'keys',
    `environment = 'sandbox' AND kind = 'publishable'`,
    `'id', ${idLike}, 'hash', md5(n::text)`,
    countOf(counts, 'keys'),
  );
  const userChanges = `'id', ${idLike}, 'email', n || '@example.com'`;
  await copy('users', 'true', userChanges, countOf(counts, 'users'));
  await copy('audit_entries', `environment = 'sandbox'`, `'id', ${idLike}`, each);
  await copy('decisions', 'id = $3', `'id', ${idLike}`, each, [decisionId]);
  const timelineId = idLike.replace('id,', 'decision_id,');
  await copy('timelines', 'decision_id = $3', `'decision_id', ${timelineId}`, each, [decisionId]);
  const entryChanges = `'id', 'entry-' || n, 'version', n + 1, 'balance', n`;
  await copy('wallet_entries', 'true', entryChanges, each);
  await database.query(
    `INSERT INTO finished_deliveries (account_id, id, environment, event_id, webhook_id, state, attempts, created_at)
      SELECT account_id, 'del_' || substr(id, 5, 10) || lpad(n::text, 16, '0'), environment, id, $2,
        CASE WHEN n % 10 = 0 THEN 'failed' ELSE 'delivered' END,
        '[{"attempt": 1, "started_at": "2026-01-01T00:00:00.000Z", "latency_ms": 12, "status": 200, "response": ""}]', created_at
      FROM (SELECT * FROM webhook_events WHERE account_id = $1 LIMIT 1) AS one, generate_series(1, $3::integer) AS n`,
    [accountId, webhookId, each],
  );
  await addFigures(database, accountId, counts);
  await database.query('VACUUM ANALYZE');
}

const metrics = ['filled', 'impressions', 'starts', 'completes', 'clicks', 'rewards_earned'];
const days = 7;

/** Adds a week of counts: each creative has a house ad, an advertiser and a placement. */
async function addFigures(database: Database, accountId: string, counts: Counts): Promise<void> {
  const readPrefix = async (kind: string): Promise<string> => {
    const [row] = await database.query<{ prefix: string }>(
      `SELECT substr(max(id), 1, 14) AS prefix FROM resources WHERE account_id = $1 AND kind = $2`,
      [accountId, kind],
    );
    return row?.prefix ?? '';
  };
  const suffix = (count: number): string => `lpad((n % ${count} + 1)::text, 16, '0')`;
  await database.query(
    `INSERT INTO rollups (account_id, environment, hour, placement, creative_id, source_id, advertiser_id, house_ad_id, metric, reason, count)
      SELECT $1, 'sandbox', date_trunc('day', now(), 'UTC') - day * interval '1 day',
        'Object ' || (n % ${countOf(counts, 'placements')} + 1), $2 || ${suffix(countOf(counts, 'creatives'))}, '',
        $3 || ${suffix(countOf(counts, 'advertisers'))}, $4 || ${suffix(countOf(counts, 'house_ads'))}, metric, '', n + 1
      FROM generate_series(0, ${countOf(counts, 'creatives') - 1}) AS n, generate_series(0, ${days - 1}) AS day,
        unnest($5::text[]) AS metric`,
    [
      accountId,
      await readPrefix('creative'),
      await readPrefix('advertiser'),
      await readPrefix('houseAd'),
      metrics,
    ],
  );
}
