import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { startPrivatePostgres } from '../private-postgres.ts';

test('a connection that breaks between two statements of a transaction ends neither process nor pool', async ({
  skip,
}) => {
  const given = process.env['DATABASE_URL'];
  const postgres =
    given === undefined
      ? await startPrivatePostgres()
      : { url: given, stop: async () => undefined };
  if (postgres === undefined) return skip('There is no PostgreSQL here, and no DATABASE_URL.');
  const errors: Error[] = [];
  const database = openPostgres(postgres.url, (error) => errors.push(error));
  const broken = database.transaction(async (queries) => {
    const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.query('SELECT pg_terminate_backend($1)', [row?.pid]);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    await queries.query('SELECT 1');
  });
  await expect(broken).rejects.toThrow(/terminat|not queryable|connection/i);
  expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await database.close();
  await postgres.stop();
});
