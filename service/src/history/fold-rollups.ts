import type { Logger } from 'pino';
import { foldDeltas } from './rollup.ts';
import type { Clock } from '../platform/time.ts';
import type { Database } from '../store/database.ts';
import { retryLockTimeoutMs } from '../store/group-commit.ts';
import type { Tracing } from '../trace/tracing.ts';
import { claimChore } from './claim-chore.ts';

interface Deps {
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
}

/** Interval between folds. Short, because refreshing the daily caps reads all remaining deltas twice a second. */
const intervalMs = 10_000;
const deltasPerTransaction = 2_000;

/**
 * Moves all deltas to the roll-ups. Returns the number of deltas. Takes one batch from each account in turn, so that an
 * account with many deltas doesn't delay other accounts. If an account's fold fails, its remaining deltas are left for
 * the next run. Stops early when `stopping` aborts.
 */
export async function foldRollups(
  database: Database,
  stopping: AbortSignal,
  onFailure: (accountId: string, error: unknown) => void,
): Promise<number> {
  const rows = await database.query<{ account_id: string }>(
    'SELECT DISTINCT account_id FROM rollup_deltas',
  );
  let accounts = rows.map((row) => row.account_id);
  let foldedCount = 0;
  while (accounts.length > 0) {
    const unfinishedAccounts: string[] = [];
    for (const accountId of accounts) {
      if (stopping.aborted) return foldedCount;
      try {
        const deltas = await database.transaction(
          (queries) => foldDeltas(queries, accountId, deltasPerTransaction),
          { lockTimeoutMs: retryLockTimeoutMs },
        );
        foldedCount += deltas;
        if (deltas === deltasPerTransaction) unfinishedAccounts.push(accountId);
      } catch (error) {
        onFailure(accountId, error);
      }
    }
    accounts = unfinishedAccounts;
  }
  // Keeps the table small. On a server, autovacuum runs only once a minute. The embedded database has no autovacuum.
  // This statement doesn't wait for locks or block inserts.
  if (foldedCount > 0) await database.query('VACUUM (SKIP_LOCKED, TRUNCATE false) rollup_deltas');
  return foldedCount;
}

/** Folds the roll-ups every ten seconds until `stop` is called. Only one process claims each run. */
export function startFolding({ database, clock, log, tracing }: Deps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const fold = async (): Promise<void> => {
    const [row] = await database.query<{ any: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM rollup_deltas) AS any',
    );
    if (row?.any !== true) return;
    if (!(await claimChore(database, 'roll-ups', intervalMs / 2, clock.nowMs()))) return;
    await foldRollups(database, stopping.signal, (accountId, error) =>
      log.warn({ err: error, accountId }, "could not fold an account's roll-ups; retrying in 10 s"),
    );
  };
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= tracing
      .run({ name: 'upkeep roll-ups' }, fold)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'could not fold roll-ups; retrying in 10 s'),
      )
      .finally(() => (running = undefined));
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
