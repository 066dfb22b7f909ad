import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { failFast } from './fail-fast.ts';
import { measure } from './measure.ts';
import { migrate } from './migrate.ts';
import type { DatabaseConfig, openDatabase } from './open-database.ts';
import { refuseUnfinishedImport } from './transfer/import-rows.ts';
import { watchDisk } from './watch-disk.ts';

/** Opens the database for a service that runs for months: measured, up to date, and refusing while it is away. */
export async function prepareDatabase(
  config: DatabaseConfig & { migrationWaitMs: number },
  log: Logger,
  observe: Parameters<typeof measure>[1],
  open: typeof openDatabase,
): Promise<Database> {
  const opened = await open(config, {
    onInitialise: () => log.info('making a new database; this takes some seconds, once'),
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  try {
    await migrate(opened, {
      onApply: (migration) => log.info({ migration }, 'changing the tables'),
      onNewer: (names) => log.warn({ migrations: names }, 'the tables are of a newer version'),
      onWait: (text) => log.warn(text),
      waitMs: config.migrationWaitMs,
    });
    await refuseUnfinishedImport(opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
  const database = watchDisk(measure(opened, observe), {
    onFull: (error) =>
      log.error({ reason: error.message }, 'the disk of the database is full; writes are refused'),
    onFree: (fullMs) =>
      log.warn({ fullMs: Math.round(fullMs) }, 'the disk of the database has room again'),
  });
  if (config.databaseUrl === undefined) return database;
  return failFast(database, {
    onAway: (error) => log.error({ err: error }, 'the database is away; requests are refused'),
    onBack: (awayMs) => log.warn({ awayMs: Math.round(awayMs) }, 'the database is back'),
  });
}
