import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** Whether the machine has PostgreSQL. Tests that need it are skipped where it has none. */
export const hasPostgres = inject('postgresUrl') !== undefined;

/**
 * Makes an empty database on the PostgreSQL server of this run and hands back its address. It vanishes with
 * the server. A test that disturbs a whole server starts its own: `startPrivatePostgres`.
 *
 * @param settings of its sessions: `{ timezone: 'Asia/Tokyo' }`
 * @throws Error where there is no PostgreSQL: ask {@link hasPostgres} first.
 */
export async function createPostgresDatabase(
  settings: Record<string, string> = {},
): Promise<string> {
  const server = inject('postgresUrl');
  if (server === undefined) throw new Error('This machine has no PostgreSQL.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client(server);
  await admin.connect();
  try {
    await admin.query(`CREATE DATABASE ${name}`);
    for (const [setting, value] of Object.entries(settings))
      await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${pg.escapeLiteral(value)}`);
  } finally {
    await admin.end();
  }
  return server.replace(/[^/]*$/, name);
}

/** Variables for a database of its own: on the server where there is one, else embedded, which takes longer. */
export const ownDatabase = async (): Promise<Record<string, string>> =>
  hasPostgres ? { DATABASE_URL: await createPostgresDatabase() } : {};
