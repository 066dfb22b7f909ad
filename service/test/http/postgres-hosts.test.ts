import { expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';
import { startPrivatePostgres } from '../private-postgres.ts';

test.skipIf(!hasPostgres)('a host that refuses connections is skipped', async () => {
  const url = new URL(await createPostgresDatabase());
  // Port 1 is reserved and refuses connections.
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

test.skipIf(!hasPostgres)('a standby is skipped in favor of the primary', async () => {
  const standby = await startPrivatePostgres({ standby: true });
  const standbyDatabase = openPostgres(standby?.url ?? '', () => undefined);
  expect(await standbyDatabase.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await standbyDatabase.close();
  const primary = new URL(await createPostgresDatabase());
  const { host } = new URL(standby?.url ?? '');
  for (let time = 0; time < 10; time += 1) {
    const database = openPostgres(
      `postgres://trueward@${host},${primary.host}/postgres`,
      () => undefined,
    );
    const read = () => database.query('SELECT pg_is_in_recovery() AS standby');
    // The first host is chosen at random.
    await read().catch((error: unknown) => expect(error).toMatchObject({ name: 'StandbyError' }));
    expect(await read()).toEqual([{ standby: false }]);
    await database.close();
  }
  await standby?.stop();
});
