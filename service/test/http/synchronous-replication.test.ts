import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { isUnavailable, isUnreachable } from '../../src/store/database-errors.ts';
import { failFast } from '../../src/store/watch-database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { startPrivatePostgres } from '../private-postgres.ts';

// The configured synchronous standby does not exist, so every commit waits.
const postgres = await startPrivatePostgres({ settings: ['synchronous_standby_names=missing'] });
afterAll(() => postgres?.stop());

const insert = 'INSERT INTO written VALUES ($1)';
const writes: Record<string, (database: Database) => Promise<unknown>> = {
  'a statement': (database) => database.query(insert, [1]),
  'a prepared statement': (database) => database.execute(insert, [1]),
  'a transaction': (database) => database.transaction((queries) => queries.query(insert, [1])),
};

describe.skipIf(postgres === undefined)('on a server that waits for a synchronous standby', () => {
  test.each(Object.entries(writes))(
    '%s fails if its wait for the standby is canceled',
    async (_name, write) => {
      const admin = new pg.Client(`${postgres?.url}?options=-csynchronous_commit%3Dlocal`);
      await admin.connect();
      await admin.query('DROP TABLE IF EXISTS written; CREATE TABLE written (id integer)');
      const database = openPostgres(postgres?.url ?? '', () => undefined);
      const error = write(database).catch((caught: unknown) => caught);
      const cancel = async () =>
        (
          await admin.query(
            `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
          )
        ).rowCount;
      await expect.poll(cancel).toBe(1);
      expect(await error).toMatchObject({ name: 'NotReplicatedError' });
      expect([isUnreachable(await error), isUnavailable(await error)]).toEqual([true, true]);
      // The connection is still usable, and reads do not wait.
      expect(await database.query('SELECT id FROM written')).toEqual([{ id: 1 }]);
      expect(database.connections?.()).toEqual({ open: 1, idle: 1, waiting: 0 });
      await Promise.all([admin.end(), database.close()]);
    },
  );

  test('an outage ends when no commit waits, whatever else takes long', async () => {
    const [admin, slow] = await Promise.all(
      [0, 1].map(async () => {
        const client = new pg.Client(`${postgres?.url}?options=-csynchronous_commit%3Dlocal`);
        await client.connect();
        return client;
      }),
    );
    const count = async (condition: string, what = '') =>
      (await admin?.query(`SELECT ${what} FROM pg_stat_activity WHERE ${condition}`))?.rowCount;
    await admin?.query('DROP TABLE IF EXISTS written; CREATE TABLE written (id integer)');
    const sleeping = slow?.query('SELECT pg_sleep(60)').catch(() => undefined);
    const isSlow = `query = 'SELECT pg_sleep(60)' AND query_start < clock_timestamp() - interval '1 second'`;
    await expect.poll(() => count(isSlow)).toBe(1);

    const [onOutage, onRecover] = [vi.fn(), vi.fn()];
    const database = failFast(
      openPostgres(postgres?.url ?? '', () => undefined),
      { onOutage, onRecover },
    );
    const writing = database.query(insert, [1]).catch(() => undefined);
    const cancel = 'pg_cancel_backend(pid)';
    await expect.poll(() => count(`wait_event = 'SyncRep'`, cancel)).toBe(1);
    await writing;
    expect(onOutage).toHaveBeenCalledOnce();
    await expect.poll(() => onRecover.mock.calls.length).toBe(1);
    expect(await count(isSlow)).toBe(1);

    await count(isSlow, cancel);
    await sleeping;
    await Promise.all([admin?.end(), slow?.end(), database.close()]);
  });
});
