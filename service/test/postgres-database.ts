import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { Queries } from '../src/store/database.ts';
import { createDatabaseOn } from './create-database.ts';
import { findNeighborChanges, watchNeighbor } from './neighbor.ts';

/** Whether PostgreSQL is installed. Tests that require PostgreSQL are skipped if it is not. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Creates a migrated database that contains only the neighbor on this run's shared PostgreSQL server. Returns its URL.
 * Tests that stop or overload a server must start their own with `startPrivatePostgres`.
 *
 * @param settings session defaults, such as `{ timezone: 'Asia/Tokyo' }`
 * @throws Error if PostgreSQL is not installed. Check {@link hasPostgres} first.
 */
export async function createPostgresDatabase(
  settings: Record<string, string> = {},
): Promise<string> {
  const template = inject('postgresTemplate');
  const url = await createDatabase(settings, template);
  if (template !== undefined)
    watchNeighbor(new URL(url).pathname.slice(1), () => findChangesIn(url));
  return url;
}

/**
 * Like {@link createPostgresDatabase}, but the database has no tables. For tests of the schema, and of commands that
 * need an empty database or process all accounts.
 */
export const createEmptyPostgresDatabase = (
  settings: Record<string, string> = {},
): Promise<string> => createDatabase(settings);

/** Returns how many of the database's connections wait for a lock. */
export async function countLockWaits(database: Queries): Promise<number> {
  const rows = await database.query(
    `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
  );
  return rows.length;
}

async function createDatabase(
  settings: Record<string, string>,
  template?: string,
): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('PostgreSQL is not installed.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  return createDatabaseOn(server, name, settings, template);
}

async function findChangesIn(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await findNeighborChanges({
      query: async <T>(text: string) => (await client.query(text)).rows as T[],
    });
  } finally {
    await client.end();
  }
}

/**
 * Creates an empty database for a service's command and returns its environment variables. If PostgreSQL is not
 * installed, returns none, so that the command uses an embedded database, which is slower.
 */
export const createDatabaseSettings = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createEmptyPostgresDatabase() } : {};
