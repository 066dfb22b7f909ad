import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createDatabaseOn } from './create-database.ts';

/** Whether the machine has PostgreSQL. If it does not, tests that need PostgreSQL are skipped. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Creates an empty database on this run's PostgreSQL server and returns its URL. The database is deleted when the
 * server is. Tests that stop or overload a server must start their own with `startPrivatePostgres`.
 *
 * @param settings session defaults, such as `{ timezone: 'Asia/Tokyo' }`
 * @throws Error if there is no PostgreSQL: check {@link hasPostgres} first.
 */
export async function createPostgresDatabase(
  settings: Record<string, string> = {},
): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('This machine has no PostgreSQL.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  return createDatabaseOn(server, name, settings);
}

/**
 * Returns environment variables for a new database. It is on PostgreSQL if that is installed, because that is faster.
 */
export const ownDatabase = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createPostgresDatabase() } : {};
