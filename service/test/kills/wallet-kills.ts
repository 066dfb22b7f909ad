import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { openKillStore, startProcesses, waitForCount } from './processes.ts';
import { type ConfirmedGuest, startWalletPlayers } from './wallet-players.ts';

interface WalletKillOptions {
  /** The credits and spends to confirm. */
  changes: number;
  kills: number;
  /** The number of concurrent players. */
  players: number;
  /** Default: the embedded database, which supports only one process. */
  databaseUrl?: string;
  onProgress?(text: string): void;
}

/** Violated guarantees. All lists should be empty. */
interface Violations {
  /** Wallets whose entries don't add up to the balance, at the time of a kill or at the end. */
  sums: string[];
  /** Confirmed credits and spends that are not stored exactly once, as they were confirmed and for one player. */
  lost: string[];
  /** Stored credits and spends that the service has not confirmed, although each request was repeated until it did. */
  unconfirmed: string[];
  /** Wallets that differ from what was confirmed. */
  differences: string[];
  unexpectedResponses: string[];
}

export interface WalletKillReport extends Violations {
  /** The confirmed credits and spends. */
  credits: number;
  spends: number;
  guests: number;
  kills: number;
  /** Requests that got no answer, or a 5xx, and were repeated. */
  repeats: number;
}

/** Kills random service processes while players earn and spend. Then compares all wallets with what was confirmed. */
export async function runWalletKills({
  changes,
  kills,
  players,
  databaseUrl,
  onProgress = () => undefined,
}: WalletKillOptions): Promise<WalletKillReport> {
  const startMs = performance.now();
  const dataDir = mkdtempSync(join(tmpdir(), 'trueward-wallet-kills-'));
  const store = { dataDir, databaseUrl };
  const processes = await startProcesses(store);
  const session = startWalletPlayers({
    urls: processes.urls,
    key: processes.first.keys.sandbox.publishable,
    count: players,
  });
  const sums: string[] = [];
  const checkSums = async (database: Database): Promise<void> => {
    for (const { viewer } of await findSumDifferences(database)) sums.push(viewer);
  };
  const inspect = async <T>(read: (database: Database) => Promise<T>): Promise<T> => {
    const database = await openKillStore(store);
    try {
      return await read(database);
    } finally {
      await database.close();
    }
  };
  try {
    for (let kill = 1; kill <= kills; kill += 1) {
      await waitForCount(session.countChanges, (changes / kills) * kill);
      // Kills the service at an arbitrary point.
      await sleep(Math.random() * 500);
      await processes.killRandomProcess(() => inspect(checkSums));
      onProgress(
        `kill ${kill} of ${kills}: ${session.countChanges()} changes, ${sums.length} differences, ${Math.round((performance.now() - startMs) / 1_000)} s`,
      );
    }
    const { guests, repeats, unexpectedResponses } = await session.finish();
    await processes.stop();
    return await inspect(async (database) => {
      await checkSums(database);
      const confirmed = guests.flatMap(({ entries }) => [...entries.values()]);
      const credits = confirmed.filter((delta) => delta > 0).length;
      return {
        credits,
        spends: confirmed.length - credits,
        guests: guests.length,
        kills,
        repeats,
        sums,
        ...(await compareEntries(database, guests)),
        unexpectedResponses,
      };
    });
  } finally {
    await session.abandon();
    await processes.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface EntryRow {
  viewer: string;
  id: string;
  delta: number;
}

/** Compares the stored entries and balances with what the service has confirmed to each guest. */
async function compareEntries(
  database: Database,
  guests: readonly ConfirmedGuest[],
): Promise<Pick<Violations, 'lost' | 'unconfirmed' | 'differences'>> {
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
