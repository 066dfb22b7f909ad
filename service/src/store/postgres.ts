import pg from 'pg';
import type { Database, Queries, Row } from './database.ts';

/** `bigint`; every one that is stored here is below 2^53. */
const int8 = 20;

/** Opens a PostgreSQL server, or whatever speaks its protocol and dialect. */
export function openPostgres(connectionString: string, onError: (error: Error) => void): Database {
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === int8 ? Number : pg.types.getTypeParser(oid, format),
  };
  const pool = new pg.Pool({ connectionString, max: 8, types: types as pg.CustomTypesConfig });
  pool.on('error', onError);
  // The pool listens to idle connections only: one that breaks inside a transaction, between two
  // statements, would end the process.
  pool.on('connect', (client) => client.on('error', onError));

  const over = (client: pg.Pool | pg.PoolClient): Queries => ({
    query: async <T = Row>(text: string, params: readonly unknown[] = []) =>
      (await client.query(text, [...params])).rows as T[],
  });

  return {
    ...over(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const result = await work(over(client));
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error) {
        await client.query('ROLLBACK').then(
          () => client.release(),
          (broken: Error) => client.release(broken),
        );
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
