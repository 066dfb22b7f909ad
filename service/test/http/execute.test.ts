import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  bigintArray,
  booleanArray,
  doubleArray,
  integerArray,
  textArray,
  timeArray,
} from '../../src/store/binary-arrays.ts';
import type { Database } from '../../src/store/database.ts';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { copyEmptyDatabase } from '../empty-database.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

const insert = `INSERT INTO kinds SELECT * FROM
  unnest($1::text[], $2::integer[], $3::bigint[], $4::float8[], $5::boolean[], $6::timestamptz[])`;
const row = (name: string) => [
  textArray([name, `${name}: "ü€😀\\,{}`, `${name}3`]),
  integerArray([-5, 2_147_483_647, null]),
  bigintArray([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, null]),
  doubleArray([0.1, -3e300, null]),
  booleanArray([true, false, null]),
  timeArray([Date.UTC(1960, 0, 1, 0, 0, 0, 7), Date.UTC(2026, 10, 21), null]),
];

/** The same on the embedded store and on a server. */
async function tryOut(database: Database): Promise<void> {
  await database.query(`CREATE TABLE kinds (name text PRIMARY KEY, i integer, b bigint,
    d double precision, o boolean, t timestamptz)`);
  await database.execute(insert, row('first'));
  const stored = await database.query(`SELECT * FROM kinds`);
  expect(stored).toEqual([
    {
      name: 'first',
      i: -5,
      b: Number.MIN_SAFE_INTEGER,
      d: 0.1,
      o: true,
      t: new Date('1960-01-01T00:00:00.007Z'),
    },
    {
      name: 'first: "ü€😀\\,{}',
      i: 2_147_483_647,
      b: Number.MAX_SAFE_INTEGER,
      d: -3e300,
      o: false,
      t: new Date('2026-11-21T00:00:00.000Z'),
    },
    { name: 'first3', i: null, b: null, d: null, o: null, t: null },
  ]);
  await expect(database.execute(insert, row('first'))).rejects.toMatchObject({ code: '23505' });
  const second = await database.execute<{ i: number; b: number; t: Date }>(
    `${insert} RETURNING i, b, t`,
    row('second'),
  );
  expect(second[1]).toEqual({
    i: 2_147_483_647,
    b: Number.MAX_SAFE_INTEGER,
    t: new Date('2026-11-21T00:00:00.000Z'),
  });
  const half = database.transaction(async (queries) => {
    await queries.execute(insert, row('third'));
    throw new Error('stop');
  });
  await expect(half).rejects.toThrow('stop');
  expect(await database.query('SELECT count(*) AS count FROM kinds')).toEqual([{ count: 6 }]);
}

test('the embedded store takes binary arrays in prepared statements, and goes on after a refusal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  await copyEmptyDatabase(join(folder, 'database'));
  const database = await openPGlite(join(folder, 'database'), () => undefined);
  try {
    await tryOut(database);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

describe.skipIf(!hasPostgres).each([false, true])(
  'on PostgreSQL, behind a pooler: %s',
  (pooler) => {
    const limits = { poolSize: 2, timeoutMs: 10_000, lockTimeoutMs: 2_000, pooler };
    let database: Database;
    beforeAll(async () => {
      database = openPostgres(await createPostgresDatabase(), () => undefined, limits);
    });
    afterAll(() => database.close());

    test('it takes the same, and gives a statement a name only where it keeps its connection', async () => {
      await tryOut(database);
      const named = await database.query('SELECT name FROM pg_prepared_statements');
      expect(named.length > 0).toBe(!pooler);
      await database.query('DROP TABLE kinds');
    });

    test('a statement that waits for a connection while others run it tells its columns', async () => {
      const numbers = Array.from({ length: 12 }, (_, index) => index);
      const rows = await Promise.all(
        numbers.map((number) =>
          database.execute('SELECT $1::integer AS number, pg_sleep(0.01)', [String(number)]),
        ),
      );
      expect(rows.map(([row]) => row?.['number'])).toEqual(numbers);
    });

    test('a table that changes changes the rows, after one refusal for each connection at most', async () => {
      const read = () =>
        database.transaction((queries) => queries.execute('SELECT * FROM changing', []));
      await database.query(`CREATE TABLE changing (a jsonb)`);
      await database.query(`INSERT INTO changing VALUES ('{}')`);
      expect(await read()).toEqual([{ a: {} }]);
      await database.query(`ALTER TABLE changing ALTER a TYPE text USING 'text', ADD b integer`);
      await Promise.allSettled([read(), read()]);
      expect(await Promise.all([read(), read()])).toEqual(Array(2).fill([{ a: 'text', b: null }]));
      await database.query('DROP TABLE changing');
    });

    test('a connection that has lost its statements prepares them again, after one refusal', async () => {
      const inOne = () => database.transaction((queries) => queries.execute('SELECT 1 AS one', []));
      await inOne();
      await Promise.all([1, 2].map(() => database.query('DISCARD ALL')));
      await Promise.allSettled([inOne(), inOne()]);
      expect(await Promise.all([inOne(), inOne()])).toEqual(Array(2).fill([{ one: 1 }]));
    });
  },
);
