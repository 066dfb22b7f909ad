import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { DatabaseSettingsError, rejectUnsuitableSettings } from './check-settings.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { openPGlite } from './pglite/open-pglite.ts';
import { openPostgres } from './postgres.ts';
import type { PostgresLimits } from './postgres-pool.ts';
import { listHostUrls } from '../platform/list-host-urls.ts';
import { failFast, measureCalls, watchDisk } from './watch-database.ts';

/** Thrown when the service can't connect to the PostgreSQL server in `DATABASE_URL`. */
export class DatabaseConnectionError extends Error {
  constructor(url: string, cause: unknown) {
    const [first = url, ...others] = listHostUrls(url);
    const { hostname, port, pathname, username } = new URL(first);
    const alternatives = others.length > 0 ? `, or one of ${others.length} other hosts,` : '';
    const server = `${hostname}:${port || 5432}${alternatives}${pathname} as ${username || 'the default user'}`;
    super(
      `DATABASE_URL: cannot connect to PostgreSQL at ${server}: ${describeCause(cause)}. ` +
        'Check the host, the credentials and that the server is running.',
      { cause },
    );
    this.name = 'DatabaseConnectionError';
  }
}

/**
 * Describes an error. If a host has several IPs, a failure to connect throws an `AggregateError` that has no message
 * and contains one error per IP.
 */
function describeCause(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeCause).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** The database to open, and its limits. */
export interface DatabaseConfig {
  /** Folder of the embedded database. */
  dataDirectory: string;
  /** Connection string of a PostgreSQL server. By default, the embedded database is used. */
  databaseUrl?: string;
  /** Connection string for schema changes: the coordinator of a Citus cluster. Default: `databaseUrl`. */
  databaseAdminUrl?: string;
  databaseLimits: PostgresLimits;
}

/** Whether the configured database is one on a server, or an embedded one that has been created. */
export const isDatabaseCreated = ({ databaseUrl, dataDirectory }: DatabaseConfig): boolean =>
  databaseUrl !== undefined || existsSync(join(dataDirectory, 'database', 'PG_VERSION'));

interface Notices {
  /** Called before a new embedded database is created, which takes a few seconds. */
  onInitialize(): void;
  /** Called when a connection to the server is lost. The next query opens a new connection. */
  onError(error: Error): void;
}

/**
 * Opens the configured database, which is either on a server or embedded.
 *
 * @throws DatabaseConnectionError when the server cannot be reached or rejects the credentials.
 */
export async function openDatabase(config: DatabaseConfig, notices: Notices): Promise<Database> {
  const { databaseUrl, databaseAdminUrl, databaseLimits } = config;
  if (databaseUrl !== undefined) {
    const database = openPostgres(databaseUrl, notices.onError, databaseLimits, databaseAdminUrl);
    try {
      await connect(database, listHostUrls(databaseUrl).length);
      await rejectUnsuitableSettings(database);
      return database;
    } catch (error) {
      await database.close();
      if (error instanceof DatabaseSettingsError) throw error;
      throw new DatabaseConnectionError(databaseUrl, error);
    }
  }
  return openPGlite(join(config.dataDirectory, 'database'), notices.onInitialize);
}

/** Tries to connect to each host once. */
async function connect(database: Database, hostCount: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.query('SELECT 1');
      return;
    } catch (error) {
      if (attempt >= hostCount) throw error;
    }
  }
}

/**
 * Opens and migrates the database for the service. Calls to the returned database are instrumented, and fail fast
 * during an outage.
 */
export async function openServiceDatabase(
  config: DatabaseConfig & { migrationWaitMs: number },
  log: Logger,
  observe: Parameters<typeof measureCalls>[1],
  open: typeof openDatabase,
): Promise<Database> {
  const rawDatabase = await open(config, {
    onInitialize: () => log.info('creating a new database, which takes a few seconds'),
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  try {
    await migrate(rawDatabase, {
      onApply: (migration) => log.info({ migration }, 'applying a migration'),
      onDistribute: (table) => log.info({ table }, 'distributing a table'),
      onNewer: (migrations) =>
        log.warn({ migrations }, 'the database schema is newer than this build'),
      onWait: (text) => log.warn(text),
      waitMs: config.migrationWaitMs,
    });
  } catch (error) {
    await rawDatabase.close();
    throw error;
  }
  const database = watchDisk(measureCalls(rawDatabase, observe), {
    onFull: (error) =>
      log.error({ reason: error.message }, 'the database disk is full; rejecting writes'),
    onFree: (fullMs) =>
      log.warn({ fullMs: Math.round(fullMs) }, 'the database disk has free space again'),
  });
  if (config.databaseUrl === undefined) return database;
  return failFast(database, {
    onOutage: (error) =>
      log.error({ err: error }, 'the database is unreachable; rejecting requests'),
    onRecover: (outageMs) =>
      log.warn({ outageMs: Math.round(outageMs) }, 'the database is reachable again'),
  });
}
