import { formatInstant } from '../platform/time.ts';
import type { Queries, Scope } from '../store/database.ts';
import { type Column, buildArrays, forAccount, unnest } from '../store/unnest.ts';
import { applyChange, type Entry, type Holding, type WalletChange } from './wallet.ts';

/** What a player has of one type. */
export interface HoldingRow extends Holding {
  viewer: string;
}

/** Reads what these players have. Lock the players first to change it. */
export const readHoldings = (
  queries: Queries,
  { accountId, environment }: Scope,
  viewers: readonly string[],
): Promise<HoldingRow[]> =>
  queries.query<HoldingRow>(
    `SELECT viewer, type, balance, round(date_part('epoch', active_until) * 1000) AS "activeUntilMs", version
      FROM wallet_balances WHERE account_id = $1 AND environment = $2 AND viewer = ANY($3::text[])`,
    [accountId, environment, viewers],
  );

/** Reads what a player has spent with this id. No other entry has an id that a spender could choose. */
export async function findSpend(
  queries: Queries,
  { accountId, environment }: Scope,
  viewer: string,
  id: string,
): Promise<Entry | undefined> {
  const [row] = await queries.execute<Entry>(
    `SELECT id, kind, type, delta, reason, balance, version FROM wallet_entries
      WHERE account_id = $1 AND environment = $2 AND viewer = $3 AND id = $4`,
    [accountId, environment, viewer, id],
  );
  return row;
}

/** A change to a player's wallet. */
export interface PlayerChange extends WalletChange {
  viewer: string;
}

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
  const wallets = new Map<string, Map<string, Holding>>();
  for (const { viewer, ...holding } of rows) {
    const wallet = wallets.get(viewer) ?? new Map<string, Holding>();
    wallets.set(viewer, wallet.set(holding.type, holding));
  }
  const changed = new Map<string, HoldingRow>();
  const entries: (Entry & { viewer: string })[] = [];
  const results = changes.map(({ viewer, ...change }) => {
    const wallet = wallets.get(viewer) ?? new Map<string, Holding>();
    const applied = applyChange([...wallet.values()], change, nowMs);
    if (!applied) return undefined;
    wallets.set(viewer, wallet.set(change.type, applied.holding));
    changed.set(JSON.stringify([viewer, change.type]), { viewer, ...applied.holding });
    entries.push({ viewer, ...applied.entry });
    return applied.entry;
  });
  if (entries.length > 0)
    await Promise.all([
      storeHoldings(queries, scope, [...changed.values()]),
      storeEntries(queries, scope, entries, nowMs),
    ]);
  return results;
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
