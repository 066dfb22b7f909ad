import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Database } from './database.ts';
import { openPGlite } from './pglite/open-pglite.ts';
import { openPostgres } from './postgres.ts';

/** Opens the database that the configuration names: a server, or the embedded one in the data folder. */
export async function openDatabase(config: Config, log: Logger): Promise<Database> {
  if (config.databaseUrl !== undefined) {
    return openPostgres(config.databaseUrl, (error) =>
      log.error({ err: error }, 'a database connection broke'),
    );
  }
  return openPGlite(join(config.dataDirectory, 'database'), () =>
    log.info('making a new database; this takes some seconds, once'),
  );
}
