import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import { isArchived } from '../store/archive/archive-week.ts';
import type { Database } from '../store/database.ts';
import { analyzePartitions, dropWeek, listWeeks, makePartitions } from '../store/partitions.ts';
import type { Tracing } from '../trace/tracing.ts';
import { startFolding } from './fold-rollups.ts';
import { type Keep, removeOldRows } from './remove-old-rows.ts';
import { takeChore } from './take-chore.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Logger;
  tracing: Pick<Tracing, 'run'>;
  keep: Keep;
}

const everyMs = 3_600_000;

/**
 * Makes partitions before they are needed, at once and then every hour; one of the processes also
 * drops old ones, and removes what is too old elsewhere. Roll-ups are folded meanwhile.
 */
export async function startUpkeep(parts: Parts): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  await attempt(parts, 'partitions', () => keepPartitions(parts));
  let running = attempt(parts, 'old rows', () => removeOld(parts, stopping.signal));
  const round = async (): Promise<void> => {
    await attempt(parts, 'partitions', () => keepPartitions(parts));
    await attempt(parts, 'old rows', () => removeOld(parts, stopping.signal));
  };
  const folding = startFolding(parts);
  const timer = setInterval(() => {
    running = round();
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await Promise.all([running, folding.stop()]);
    },
  };
}

/** Never rejects: rows without a partition have a place all the same, and old ones can wait. */
async function attempt(parts: Parts, what: string, work: () => Promise<void>): Promise<void> {
  const { log, tracing } = parts;
  try {
    await tracing.run({ name: `upkeep ${what}` }, work);
  } catch (error) {
    log.warn({ err: error }, `maintenance failed: ${what}; retrying in 1 h`);
  }
}

async function keepPartitions({ database, clock }: Parts): Promise<void> {
  await makePartitions(database, clock.nowMs());
  await analyzePartitions(database);
}

async function removeOld(parts: Parts, stopping: AbortSignal): Promise<void> {
  const { database, clock, log, keep } = parts;
  if (!(await takeChore(database, 'old rows', everyMs - 60_000))) return;
  const nowMs = clock.nowMs();
  const removed = await removeOldRows(database, nowMs, keep, stopping);
  if (Object.keys(removed).length > 0) log.info({ removed }, 'old rows were removed');
  const { dropped, kept } = await dropOldWeeks(database, nowMs, keep, stopping);
  if (dropped.length > 0) log.info({ dropped }, 'old decisions and events were dropped');
  if (kept.length > 0)
    log.warn(
      { kept },
      'weeks are kept because they are not archived: run trueward-service archive',
    );
}

/** Drops the weeks that are too old; `kept` are those that are to be archived before. */
export async function dropOldWeeks(
  database: Database,
  nowMs: number,
  { decisionsMs, archiveDirectory }: Keep,
  stopping: AbortSignal,
): Promise<{ dropped: string[]; kept: string[] }> {
  const [dropped, kept]: [string[], string[]] = [[], []];
  if (decisionsMs === undefined) return { dropped, kept };
  for (const week of await listWeeks(database, nowMs - decisionsMs)) {
    if (stopping.aborted) break;
    if (archiveDirectory !== undefined && !(await isArchived(database, week))) kept.push(week.name);
    else {
      await dropWeek(database, week);
      dropped.push(week.name);
    }
  }
  return { dropped, kept };
}
