import type { Database } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import type { ConfirmedGuest, WalletPlayers } from './wallet-players.ts';

/** Violated guarantees for credits and spends. All lists should be empty. */
export interface EntryViolations {
  /** Confirmed credits and spends that are not stored exactly once, as they were confirmed and for one player. */
  lost: string[];
  /** Stored credits and spends that the service has not confirmed, although each request was repeated until it did. */
  unconfirmed: string[];
  /** Wallets that differ from what was confirmed. */
  differences: string[];
}

interface EntryRow {
  viewer: string;
  id: string;
  delta: number;
}

/** Compares the stored entries and balances with what the service has confirmed to each guest. */
export async function compareEntries(
  database: Database,
  guests: readonly ConfirmedGuest[],
): Promise<EntryViolations> {
  const rows = await database.query<EntryRow>('SELECT viewer, id, delta FROM wallet_entries');
  const balances = await database.query<{ viewer: string; balance: number }>(
    'SELECT viewer, balance FROM wallet_balances',
  );
  const balanceOf = new Map(balances.map(({ viewer, balance }) => [viewer, balance]));
  const stored = new Map<string, EntryRow[]>();
  for (const row of rows) stored.set(row.id, [...(stored.get(row.id) ?? []), row]);
  const confirmedIds = new Set(guests.flatMap(({ entries }) => [...entries.keys()]));
  const [lost, differences]: string[][] = [[], []];
  for (const { playerRef, entries } of guests) {
    const found = [...entries].flatMap(([id, delta]) => {
      const [row, ...others] = stored.get(id) ?? [];
      if (row?.delta === delta && others.length === 0) return row.viewer;
      lost?.push(`${playerRef} ${id}: ${JSON.stringify(stored.get(id))}; expected ${delta}`);
      return [];
    });
    const viewers = new Set(found);
    const expected = [...entries.values()].reduce((sum, delta) => sum + delta, 0);
    const actual = [...viewers].map((viewer) => balanceOf.get(viewer));
    if (entries.size > 0 && (actual.length !== 1 || actual[0] !== expected))
      differences?.push(`${playerRef}: ${JSON.stringify(actual)}; expected ${expected}`);
  }
  return {
    lost: lost ?? [],
    differences: differences ?? [],
    unconfirmed: rows.flatMap(({ id, delta }) => (confirmedIds.has(id) ? [] : `${id}: ${delta}`)),
  };
}

/**
 * Lets the players finish, and compares the wallets on a server with what the service has confirmed to them. Returns
 * every violated guarantee. The list should be empty.
 */
export async function verifyWallets(
  databaseUrl: string,
  players: WalletPlayers,
): Promise<string[]> {
  const { guests, unexpectedResponses } = await players.finish();
  const database = openPostgres(databaseUrl, () => undefined);
  try {
    const { lost, unconfirmed, differences } = await compareEntries(database, guests);
    const sums = await findSumDifferences(database);
    return [
      ...lost,
      ...unconfirmed,
      ...differences,
      ...sums.map(({ viewer }) => `${viewer}: the entries don't add up to the balance`),
      ...unexpectedResponses,
    ];
  } finally {
    await database.close();
  }
}
