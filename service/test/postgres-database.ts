import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createDatabaseOn } from './create-database.ts';

/** Whether the machine has PostgreSQL; tests that need it are skipped otherwise. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Creates an empty database on this run's PostgreSQL server and returns its URL. The database is deleted with the
 * server. Tests that stop or overload the server start their own with `startPrivatePostgres`.
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

/** Environment variables for a separate database: on PostgreSQL if it is installed, because that is faster. */
export const ownDatabase = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createPostgresDatabase() } : {};
