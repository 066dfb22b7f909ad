import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/store/database.ts';
import { findSumDifferences } from '../../src/wallet/check-sums.ts';
import { compareEntries, type EntryViolations } from './compare-wallets.ts';
import { openKillStore, startProcesses, waitForCount } from './processes.ts';
import { startWalletPlayers } from './wallet-players.ts';

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
interface Violations extends EntryViolations {
  /** Wallets whose entries don't add up to the balance, at the time of a kill or at the end. */
  sums: string[];
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
