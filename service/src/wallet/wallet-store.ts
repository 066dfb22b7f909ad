import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';
import { type Column, buildArrays, forAccount, unnest } from '../store/unnest.ts';
import {
  type ChangeDraft,
  draftChanges,
  type HoldingRow,
  type PlayerChange,
} from './draft-changes.ts';
import type { Entry } from './wallet.ts';

/** Reads what these players have. Lock the players first to change it. */
export const readHoldings = (
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: readonly string[],
): Promise<HoldingRow[]> =>
  queries.execute<HoldingRow>(
    `SELECT viewer, type, balance, round(date_part('epoch', active_until) * 1000) AS "activeUntilMs", version
      FROM wallet_balances WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[])`,
    [accountId, environment, viewers],
  );

/** Reads which of these ids the players have spent with. No other entry has an id that a spender could choose. */
export const findSpends = (
  queries: Queries,
  { accountId, environment }: Scope,
  spends: readonly { viewer: string; id: string }[],
): Promise<(Entry & { viewer: string })[]> =>
  queries.execute<Entry & { viewer: string }>(
    `SELECT viewer, id, kind, type, delta, reason, balance, version FROM wallet_entries
      WHERE account_id = $1 AND environment = $2
        AND (viewer, id) IN (SELECT unnest($3::text[]), unnest($4::text[]))`,
    [accountId, environment, spends.map(({ viewer }) => viewer), spends.map(({ id }) => id)],
  );

/** Reads what the players have given and received in transfers. */
export const findTransfers = (
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: readonly string[],
): Promise<{ viewer: string; id: string; at: Date }[]> =>
  queries.query(
    `SELECT viewer, id, at FROM wallet_entries
      WHERE account_id = $1 AND environment = $2 AND viewer = ANY ($3::text[]) AND kind = 'transfer'`,
    [accountId, environment, viewers],
  );

/**
 * Applies changes to the wallets of locked players. Returns one result per change, undefined for one that is refused
 * because the balance is not sufficient.
 *
 * @param rows what the players have
 */
export async function writeChanges(
  queries: Queries,
  scope: Scope,
  rows: readonly HoldingRow[],
  changes: readonly PlayerChange[],
  nowMs: number,
): Promise<(Entry | undefined)[]> {
  const draft = draftChanges(rows, nowMs);
  const results = changes.map(draft.apply);
  await storeDraft(queries, scope, draft, nowMs);
  return results;
}

/** Stores changes to the wallets of locked players. */
export async function storeDraft(
  queries: Queries,
  scope: Scope,
  draft: ChangeDraft,
  nowMs: number,
): Promise<void> {
  const entries = draft.entries();
  if (entries.length > 0)
    await Promise.all([
      storeHoldings(queries, scope, draft.holdings()),
      storeEntries(queries, scope, entries, nowMs),
    ]);
}

const holdingColumns: Column<HoldingRow>[] = [
  { name: 'viewer', type: 'text', read: (row) => row.viewer },
  { name: 'type', type: 'text', read: (row) => row.type },
  { name: 'balance', type: 'bigint', read: (row) => row.balance },
  { name: 'active_until', type: 'timestamptz', read: (row) => row.activeUntilMs },
  { name: 'version', type: 'bigint', read: (row) => row.version },
];
const listNames = (columns: readonly Column<never>[]): string =>
  columns.map(({ name }) => name).join(', ');

const upsertHoldings = `INSERT INTO wallet_balances AS held (account_id, environment, ${listNames(holdingColumns)})
  ${forAccount(`$2, ${unnest(holdingColumns, 3)}`)}
  ON CONFLICT (account_id, environment, viewer, type) DO UPDATE
    SET balance = excluded.balance, active_until = excluded.active_until, version = excluded.version
    WHERE held.version < excluded.version
  RETURNING held.viewer`;

/** @throws Error when a wallet has changed since it was read. That would be a bug, because the players are locked. */
async function storeHoldings(
  queries: Queries,
  { accountId, environment }: Scope,
  rows: readonly HoldingRow[],
): Promise<void> {
  const params = [accountId, environment, ...buildArrays(holdingColumns, rows)];
  const stored = await queries.execute(upsertHoldings, params);
  if (stored.length !== rows.length)
    throw new Error(`Stored ${stored.length} of ${rows.length} balances of locked players.`);
}

const entryColumns: Column<Entry & { viewer: string }>[] = [
  { name: 'viewer', type: 'text', read: (row) => row.viewer },
  { name: 'id', type: 'text', read: (row) => row.id },
  { name: 'kind', type: 'text', read: (row) => row.kind },
  { name: 'type', type: 'text', read: (row) => row.type },
  { name: 'delta', type: 'bigint', read: (row) => row.delta },
  { name: 'duration_s', type: 'integer', read: (row) => row.durationS },
  { name: 'reason', type: 'text', read: (row) => row.reason },
  { name: 'balance', type: 'bigint', read: (row) => row.balance },
  { name: 'version', type: 'bigint', read: (row) => row.version },
];
const insertEntries = `INSERT INTO wallet_entries (account_id, environment, at, ${listNames(entryColumns)})
  ${forAccount(`$2, $3::timestamptz, ${unnest(entryColumns, 4)}`)}`;

async function storeEntries(
  queries: Queries,
  { accountId, environment }: Scope,
  entries: readonly (Entry & { viewer: string })[],
  nowMs: number,
): Promise<void> {
  const arrays = buildArrays(entryColumns, entries);
  await queries.execute(insertEntries, [accountId, environment, formatInstant(nowMs), ...arrays]);
}
