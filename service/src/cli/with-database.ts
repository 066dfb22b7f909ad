import { randomBytes } from 'node:crypto';
import { type Config, readConfig } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { createIds, type MakeId } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { printMessage } from './command.ts';

/** What a command that works on the database gets. */
export interface DatabaseContext {
  database: Database;
  config: Config;
  makeId: MakeId;
  /** Names of the migrations that were applied on opening. */
  migrated: string[];
}

/** Opens and migrates the configured database, runs `work`, and closes it. */
export async function withDatabase<T>(work: (context: DatabaseContext) => Promise<T>): Promise<T> {
  const config = readConfig(process.env);
  // The embedded database is slow to load, and --help doesn't need it.
  const { openDatabase } = await import('../store/open-database.ts');
  const database = await openDatabase(config, {
    onInitialise: () => printMessage('Creating a new database; this takes a few seconds.'),
    onError: (error) => printMessage(`A database connection failed: ${error.message}`),
  });
  try {
    const migrated = await migrate(database, {
      onApply: (name) => printMessage(`Applying migration ${name}`),
      onNewer: (names) =>
        printMessage(`The database schema is newer than this build (${names.join(', ')}).`),
      onWait: printMessage,
      waitMs: config.migrationWaitMs,
    });
    return await work({ database, config, makeId: createIds(systemClock, randomBytes), migrated });
  } finally {
    await database.close();
  }
}
