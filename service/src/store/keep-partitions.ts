import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database } from './database.ts';
import { dropPartitions, makePartitions } from './partitions.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Logger;
  /** How long decisions and events are kept, in milliseconds; undefined: for ever. */
  keepMs: number | undefined;
}

const everyMs = 3_600_000;

/** Makes partitions before they are needed and drops old ones, at once and then every hour. */
export async function startPartitions(parts: Parts): Promise<{ stop(): Promise<void> }> {
  let running = keep(parts);
  await running;
  const timer = setInterval(() => {
    running = keep(parts);
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Never rejects: rows without a partition of their own have a place all the same. */
async function keep({ database, clock, log, keepMs }: Parts): Promise<void> {
  try {
    const nowMs = clock.nowMs();
    await makePartitions(database, nowMs);
    if (keepMs === undefined) return;
    const dropped = await dropPartitions(database, nowMs - keepMs);
    if (dropped.length > 0) log.info({ dropped }, 'old decisions and events were dropped');
  } catch (error) {
    log.warn({ err: error }, 'the partitions could not be kept up; in an hour again');
  }
}
