import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test.skipIf(!hasPostgres)(
  'losing a connection during a transaction does not crash the process',
  async () => {
    let onError: (error: Error) => void = () => undefined;
    const connectionError = new Promise<Error>((resolve) => (onError = resolve));
    const database = openPostgres(await createPostgresDatabase(), (error) => onError(error));
    const transaction = database.transaction(async (queries) => {
      const [row] = await queries.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.query('SELECT pg_terminate_backend($1)', [row?.pid]);
      await connectionError;
      await queries.query('SELECT 1');
    });
    await expect(transaction).rejects.toThrow(/terminat|not queryable|connection/i);
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.close();
  },
);
