import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from './database.ts';
import { openPGlite } from './pglite/open-pglite.ts';
import { openPostgres } from './postgres.ts';

interface Notices {
  /** A new embedded database is being made, which takes seconds. */
  onInitialise(): void;
  /** An idle connection to the server broke; the next query opens another one. */
  onError(error: Error): void;
}

/** Opens the database that the configuration names: a server, or the embedded one in the data folder. */
export async function openDatabase(config: Config, notices: Notices): Promise<Database> {
  if (config.databaseUrl !== undefined) {
    return openPostgres(config.databaseUrl, notices.onError, config.databaseLimits);
  }
  return openPGlite(join(config.dataDirectory, 'database'), notices.onInitialise);
}
