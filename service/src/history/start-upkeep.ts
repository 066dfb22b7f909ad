import type { Logger } from 'pino';
import type { Clock } from '../platform/time.ts';
import { isArchived } from './archive-week.ts';
import { childRetentionMs } from '../store/account-retention.ts';
import type { Database } from '../store/database.ts';
import {
  analyzePartitions,
  createPartitions,
  dropWeek,
  listWeeks,
  weekMs,
} from '../store/partitions.ts';
import type { Tracing } from '../trace/tracing.ts';
import { startFolding } from './fold-rollups.ts';
import { rollUpDays } from './rollup.ts';
import { claimChore } from './claim-chore.ts';
import { deleteOldRows, type Retention } from './delete-old-rows.ts';

interface Deps {
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
  retention: Retention;
}

const intervalMs = 3_600_000;
/** By then, no child's row is left in a week that has ended. The rows are deleted every hour. */
const childlessMs = childRetentionMs + 86_400_000;

/**
 * Starts the maintenance jobs. At startup and then every hour, each process creates partitions in advance, and one of
 * the processes drops old partitions and deletes other old rows. Another job folds roll-ups.
 */
export async function startUpkeep(deps: Deps): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  await runJob(deps, 'partitions', () => maintainPartitions(deps));
  const tidy = async (): Promise<void> => {
    await runJob(deps, 'old rows', () => deleteOldData(deps, stopping.signal));
    await runJob(deps, 'daily roll-ups', () => rollUpOldDays(deps, stopping.signal));
  };
  let running = tidy();
  const runHourlyJobs = async (): Promise<void> => {
    await runJob(deps, 'partitions', () => maintainPartitions(deps));
    await tidy();
  };
  const folding = startFolding(deps);
  const timer = setInterval(() => {
    running = runHourlyJobs();
  }, intervalMs);
  timer.unref();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await Promise.all([running, folding.stop()]);
    },
  };
}

/**
 * Runs a maintenance job. Never rejects, because each job can wait for the next run: rows without a partition go to the
 * default partition, and old rows can be deleted later.
 */
async function runJob(deps: Deps, job: string, work: () => Promise<void>): Promise<void> {
  const { log, tracing } = deps;
  try {
    await tracing.run({ name: `upkeep ${job}` }, work);
  } catch (error) {
    log.warn({ err: error }, `maintenance failed: ${job}; retrying in 1 h`);
  }
}

async function maintainPartitions({ database, clock }: Deps): Promise<void> {
  await createPartitions(database, clock.nowMs());
  await analyzePartitions(database);
}

async function rollUpOldDays({ database, clock }: Deps, stopping: AbortSignal): Promise<void> {
  const nowMs = clock.nowMs();
  if (!(await claimChore(database, 'daily roll-ups', intervalMs - 60_000, nowMs))) return;
  const accounts = await database.query<{ account_id: string }>('SELECT account_id FROM accounts');
  for (const { account_id: accountId } of accounts)
    while (!stopping.aborted && (await rollUpDays(database, accountId, nowMs))) continue;
}

async function deleteOldData(deps: Deps, stopping: AbortSignal): Promise<void> {
  const { database, clock, log, retention } = deps;
  const nowMs = clock.nowMs();
  if (!(await claimChore(database, 'old rows', intervalMs - 60_000, nowMs))) return;
  const deleted = await deleteOldRows(database, nowMs, retention, stopping);
  if (Object.keys(deleted).length > 0) log.info({ deleted }, 'deleted old rows');
  const { dropped, kept } = await dropOldWeeks(database, nowMs, retention, stopping);
  if (dropped.length > 0) log.info({ dropped }, 'dropped old decisions and events');
  if (kept.length > 0)
    log.warn({ kept }, 'kept weeks that are not archived; run trueward-service archive');
}

/** Drops old weeks. Returns the dropped weeks and, in `kept`, the weeks that must be archived first. */
export async function dropOldWeeks(
  database: Database,
  nowMs: number,
  { decisionsMs, archiveDirectory }: Retention,
  stopping: AbortSignal,
): Promise<{ dropped: string[]; kept: string[] }> {
  const [dropped, kept]: [string[], string[]] = [[], []];
  if (decisionsMs === undefined) return { dropped, kept };
  for (const week of await listWeeks(database, nowMs - decisionsMs)) {
    if (stopping.aborted) break;
    const mustBeArchived = archiveDirectory !== undefined && week.isArchived;
    // Nothing is deleted from the archive of a dropped week, so it must not contain children's rows any more.
    if (mustBeArchived && week.fromMs + weekMs > nowMs - childlessMs) continue;
    if (mustBeArchived && !(await isArchived(database, week))) kept.push(week.name);
    else {
      await dropWeek(database, week);
      dropped.push(week.name);
    }
  }
  return { dropped, kept };
}
