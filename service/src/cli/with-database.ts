import { randomBytes } from 'node:crypto';
import { type Config, readConfig } from '../config/config.ts';
import { systemClock } from '../platform/clock.ts';
import { createIds, type MakeId } from '../platform/ids.ts';
import type { Database } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { say } from './command.ts';

/** What a command that works on the database has. */
export interface Workplace {
  database: Database;
  config: Config;
  makeId: MakeId;
  /** Names of the changes to the schema that were made now. */
  migrated: string[];
}

/** Opens the database of the configuration with its schema up to date, and closes it after the work. */
export async function withDatabase<T>(work: (workplace: Workplace) => Promise<T>): Promise<T> {
  const config = readConfig(process.env);
  // The embedded database takes long to load, and --help needs none.
  const { openDatabase } = await import('../store/open-database.ts');
  const database = await openDatabase(config, {
    onInitialise: () => say('Making a new database; this takes some seconds, once.'),
    onError: (error) => say(`A database connection broke: ${error.message}`),
  });
  try {
    const migrated = await migrate(database, {
      onApply: (name) => say(`Changing the schema: ${name}`),
      onNewer: (names) => say(`The schema is of a newer version (${names.join(', ')}).`),
      onWait: say,
      waitMs: config.migrationWaitMs,
    });
    return await work({ database, config, makeId: createIds(systemClock, randomBytes), migrated });
  } finally {
    await database.close();
  }
}
