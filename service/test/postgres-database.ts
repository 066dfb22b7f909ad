import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createDatabaseOn } from './create-database.ts';

/** Whether PostgreSQL is installed. Tests that require PostgreSQL are skipped if it is not. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Creates an empty database on this run's shared PostgreSQL server and returns its URL. Tests that stop or overload a
 * server must start their own with `startPrivatePostgres`.
 *
 * @param settings session defaults, such as `{ timezone: 'Asia/Tokyo' }`
 * @throws Error if PostgreSQL is not installed. Check {@link hasPostgres} first.
 */
export async function createPostgresDatabase(
  settings: Record<string, string> = {},
): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('PostgreSQL is not installed.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  return createDatabaseOn(server, name, settings);
}

/**
 * Creates a database and returns its environment variables. If PostgreSQL is not installed, returns none, so that the
 * service uses an embedded database, which is slower.
 */
export const createDatabaseSettings = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createPostgresDatabase() } : {};
