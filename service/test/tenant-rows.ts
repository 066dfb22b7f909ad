import type { IdKind } from '@trueward/protocol';
import { firstIdAt } from '../src/platform/ids.ts';
import type { ResourceKinds, Stored } from '../src/resource/resource.ts';
import type { Queries } from '../src/store/database.ts';

const atMs = Date.parse('2099-06-01T00:00:00Z');
/** The time of all rows. It is decades ahead, so that no chore has a reason to change the rows. */
const at = new Date(atMs).toISOString();

/** Which of a table's rows to build. */
export interface Place {
  tenant: Tenant;
  environment: 'sandbox' | 'live';
  /** From 1 to {@link rowsPerEnvironment}. */
  n: number;
}

const rowsPerEnvironment = 3;
const environments = ['sandbox', 'live'] as const;

/** A tenant whose rows to build. */
export interface Tenant {
  /** Eight characters that occur in all of the tenant's ids. */
  marker: string;
  /** Returns the id of the tenant's nth account. */
  accountId(n: number): string;
}

/** Returns the id of a tenant's object. */
export const makeId = (kind: IdKind, { tenant, environment, n }: Place): string =>
  `${firstIdAt(kind, atMs).slice(0, -16)}${tenant.marker}0000${environment === 'live' ? 1 : 0}00${n}`;

const url = 'https://neighbor.example/';

/** A document of each kind. The policy, the ad rule and the kill switch block ads, so they must not leave their account. */
const documents: { [K in keyof ResourceKinds]: (place: Place) => Stored<K> } = {
  placement: ({ n }) => ({
    name: ['revive', 'double-coins', 'level-end'][n - 1] ?? 'lobby',
    format: 'rewarded',
    reward: { type: 'stars', amount: 7 },
    cooldown_s: 3_600,
    min_view_ms: 1_000,
    close_after_ms: 1_000,
    late_window_s: 60,
    status: 'active',
  }),
  source: ({ n }) => ({ name: `Neighbor ${n}`, kind: 'house', status: 'active' }),
  advertiser: ({ n }) => ({ name: `Neighbor ${n}`, domain: 'neighbor.example', categories: [] }),
  creative: (place) => ({
    name: `Neighbor ${place.n}`,
    advertiser_id: makeId('advertiser', place),
    source_id: makeId('source', place),
    media: {
      format: 'image',
      files: [{ url: `${url}${makeFileName(place)}`, mime: 'image/png', width: 640, height: 360 }],
    },
    click_url: url,
    alt: 'An ad of another account.',
    categories: [],
    review: { status: 'approved', reviewed_at: at, reviewed_by: 'neighbor' },
  }),
  houseAd: (place) => ({
    name: `Neighbor ${place.n}`,
    creative_id: makeId('creative', place),
    placements: ['revive', 'double-coins', 'level-end'],
    priority: 10,
    weight: 1_000,
    status: 'active',
  }),
  policy: ({ n }) => ({
    name: `Neighbor ${n}`,
    kind: 'policy',
    placements: [],
    when: {},
    block: { everything: true },
    status: 'active',
  }),
  adRule: () => ({
    formats: ['rewarded', 'interstitial', 'banner'],
    gap_s: 86_400,
    enabled: true,
  }),
  killSwitch: (place) => ({
    scope: 'placement',
    target_id: makeId('placement', place),
    state: 'on',
    actor: 'neighbor',
  }),
  webhook: ({ n }) => ({
    url: `${url}webhook-${n}`,
    events: ['decision.rewarded'],
    status: 'enabled',
  }),
};

/** Text for columns without a special value, such as `nextd00r-live-2`. */
export const makeName = ({ tenant, environment, n }: Place): string =>
  `${tenant.marker}-${environment}-${n}`;

const makeFileName = ({ n }: Place): string => `${String(n).padStart(64, '0')}.png`;

/** Tables whose rows belong to the service rather than to an account. */
const serviceTables = new Set([
  'archived_weeks',
  'chores',
  'limit_uses',
  'sign_in_attempts',
  'sign_in_names',
  'uploads',
]);
/** Tables in which each of a tenant's accounts has one row. */
const accountTables = new Set(['accounts', 'config_versions', 'rollup_deltas']);

/** Values that the service interprets, by table and column. Other columns get a value of their type. */
const values: Record<string, (place: Place) => unknown> = {
  'audit_entries.id': (place) => makeId('auditEntry', place),
  'creative_origins.creative_id': (place) => makeId('creative', place),
  'decision_demand.decision_id': (place) => makeId('decision', place),
  'decisions.format': () => 'rewarded',
  'decisions.id': (place) => makeId('decision', place),
  'decisions.late_at': () => at,
  'decisions.placement': () => 'revive',
  'decisions.reward_state': ({ n }) => ['pending', 'earned', 'expired'][n - 1],
  'decisions.settled_at': ({ n }) => (n === 1 ? null : at),
  'decisions.status': () => 'filled',
  'decisions.viewer': makeName,
  'delivery_queue.attempts': () => [],
  'delivery_queue.event_id': (place) => makeId('webhookEvent', place),
  'delivery_queue.id': (place) => makeId('delivery', place),
  'delivery_queue.webhook_id': (place) => makeId('webhook', place),
  'finished_deliveries.attempts': () => [],
  'finished_deliveries.event_id': (place) => makeId('webhookEvent', place),
  'finished_deliveries.id': (place) => makeId('delivery', place),
  'finished_deliveries.state': ({ n }) => ['delivered', 'failed', 'delivered'][n - 1],
  'finished_deliveries.webhook_id': (place) => makeId('webhook', place),
  'keys.allowed_origins': () => ['https://neighbor.example'],
  'keys.id': (place) => makeId('key', place),
  'keys.kind': ({ n }) => (n === 1 ? 'sk' : 'pk'),
  'rollup_deltas.id': () => 'ffffffff-ffff-ffff-ffff-ffffffffffff', // A fold leaves the highest id.
  'timelines.decision_id': (place) => makeId('decision', place),
  'timelines.events': ({ tenant }) => JSON.stringify([atMs, [tenant.marker, 'v', 0, 0, 0]]),
  'tracker_requests.decision_id': (place) => makeId('decision', place),
  'tracker_requests.host': () => 'neighbor.example',
  'tracker_requests.state': ({ n }) => ['pending', 'done', 'failed'][n - 1],
  'uploads.name': (place) => `${place.tenant.marker}-${makeFileName(place)}`,
  'uploads.unused_since': () => at,
  'user_links.user_id': (place) => makeId('user', place),
  'users.id': (place) => makeId('user', place),
  'users.role': () => 'owner',
  'sign_in_names.user_account_id': ({ tenant }) => tenant.accountId(1),
  'sign_in_names.user_id': (place) => makeId('user', place),
  'sessions.user_id': (place) => makeId('user', place),
  'wallet_balances.version': () => 1,
  'wallet_entries.version': () => 1,
  'webhook_events.id': (place) => makeId('webhookEvent', place),
  'webhook_failures.webhook_id': (place) => makeId('webhook', place),
};

interface Column {
  table: string;
  name: string;
  type: string;
  isNullable: boolean;
}

function makeValue({ table, name, type, isNullable }: Column, place: Place): unknown {
  const { tenant, environment, n } = place;
  if (name === 'account_id')
    return serviceTables.has(table)
      ? 'service'
      : tenant.accountId(accountTables.has(table) ? n : 1);
  if (name === 'environment') return environment;
  const make = values[`${table}.${name}`];
  if (make) return make(place);
  if (isNullable) return null;
  if (type === 'text') return makeName(place);
  if (type === 'boolean') return true;
  if (type === 'jsonb') return {};
  if (type.startsWith('timestamp') || type === 'date') return at;
  return n;
}

type Row = Record<string, unknown>;

/** Builds a table's rows: three per environment or, if the table has no environments, three. */
function makeRows(table: string, columns: readonly Column[], tenant: Tenant): Row[] {
  const hasEnvironment = columns.some(({ name }) => name === 'environment');
  const places = (
    accountTables.has(table) || !hasEnvironment ? (['sandbox'] as const) : environments
  ).flatMap((environment) =>
    Array.from({ length: rowsPerEnvironment }, (_, index) => ({
      tenant,
      environment,
      n: index + 1,
    })),
  );
  const makeRow = (place: Place): Row =>
    Object.fromEntries(columns.map((column) => [column.name, makeValue(column, place)]));
  if (table !== 'resources') return places.map(makeRow);
  return places.flatMap((place) =>
    (Object.keys(documents) as (keyof ResourceKinds)[]).map((kind) => ({
      ...makeRow(place),
      kind,
      id: makeId(kind, place),
      document: documents[kind](place),
    })),
  );
}

/**
 * Adds a tenant's rows to every table of a migrated database. Keeps rows that exist. Calls `onTable` after each table.
 */
export async function addTenant(
  queries: Queries,
  tenant: Tenant,
  onTable: (table: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const columns = await queries.query<Column>(
    `SELECT relname AS table, attname AS name, format_type(atttypid, NULL) AS type, NOT attnotnull AS "isNullable"
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        AND attgenerated = ''
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ('migrations', 'migration_lock') ORDER BY relname, attnum`,
  );
  for (const table of new Set(columns.map((column) => column.table))) {
    const tableColumns = columns.filter((column) => column.table === table);
    const rows = makeRows(table, tableColumns, tenant);
    const names = tableColumns.map(({ name }) => name).join(', ');
    await queries.query(
      `INSERT INTO ${table} (${names})
        SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb) ON CONFLICT DO NOTHING`,
      [JSON.stringify(rows)],
    );
    await onTable(table);
  }
}
