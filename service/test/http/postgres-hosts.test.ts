import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

test.skipIf(!hasPostgres)('a host that refuses connections is left for the next one', async () => {
  const url = new URL(await createPostgresDatabase());
  // Port 1 is reserved, and nothing listens there.
  const text = `postgres://${url.username}@127.0.0.1:1,${url.host}${url.pathname}`;
  for (let time = 0; time < 10; time += 1) {
    const database = openPostgres(text, () => undefined);
    // The first host is chosen at random.
    await database
      .query('SELECT 1')
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'ECONNREFUSED' }));
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await database.close();
  }
});
