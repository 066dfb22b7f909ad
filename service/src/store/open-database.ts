import { join } from 'node:path';
import type { Database } from './database.ts';
import { openPGlite } from './pglite/open-pglite.ts';
import { openPostgres, type PostgresLimits } from './postgres.ts';

/** The PostgreSQL server of `DATABASE_URL` cannot be used; the message says why. */
export class DatabaseConnectionError extends Error {
  constructor(url: string, cause: unknown) {
    const { hostname, port, pathname, username } = new URL(url);
    const where = `${hostname}:${port || 5432}${pathname} as ${username || 'the default user'}`;
    super(
      `DATABASE_URL: cannot connect to PostgreSQL at ${where}: ${messageOf(cause)}. ` +
        'Check the address, the credentials and that the server is running.',
      { cause },
    );
    this.name = 'DatabaseConnectionError';
  }
}

/** A host with several addresses fails with one error for each, and no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Which database to open, and how. */
export interface DatabaseConfig {
  /** Folder of the embedded database. */
  dataDirectory: string;
  /** Connection string of a PostgreSQL server; absent: the embedded database. */
  databaseUrl?: string;
  databaseLimits: PostgresLimits;
}

interface Notices {
  /** A new embedded database is being made, which takes seconds. */
  onInitialise(): void;
  /** An idle connection to the server broke; the next query opens another one. */
  onError(error: Error): void;
}

/**
 * Opens the database that the configuration names: a server, or the embedded one in the data folder.
 *
 * @throws DatabaseConnectionError when the server cannot be reached or refuses the credentials.
 */
export async function openDatabase(config: DatabaseConfig, notices: Notices): Promise<Database> {
  if (config.databaseUrl !== undefined) {
    const database = openPostgres(config.databaseUrl, notices.onError, config.databaseLimits);
    try {
      await database.query('SELECT 1');
      return database;
    } catch (error) {
      await database.close();
      throw new DatabaseConnectionError(config.databaseUrl, error);
    }
  }
  return openPGlite(join(config.dataDirectory, 'database'), notices.onInitialise);
}
