import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { openPGlite } from '../../src/store/pglite/open-pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { buildArrays, type Column, unnest } from '../../src/store/unnest.ts';
import { copyEmptyDatabase } from '../empty-database.ts';
import { createPostgresDatabase, hasPostgres } from '../postgres-database.ts';

interface Row {
  name: string;
  i?: number;
  b?: number;
  d?: number;
  o?: boolean;
  t?: number;
}
const columns: readonly Column<Row>[] = [
  { name: 'name', type: 'text', read: (row) => row.name },
  { name: 'i', type: 'integer', read: (row) => row.i },
  { name: 'b', type: 'bigint', read: (row) => row.b },
  { name: 'd', type: 'double precision', read: (row) => row.d },
  { name: 'o', type: 'boolean', read: (row) => row.o },
  { name: 't', type: 'timestamptz', read: (row) => row.t },
];
const insert = `INSERT INTO kinds SELECT ${unnest(columns, 1)}`;
const rows = (name: string) =>
  buildArrays(columns, [
    {
      name,
      i: -5,
      b: Number.MIN_SAFE_INTEGER,
      d: 0.1,
      o: true,
      t: Date.UTC(1960, 0, 1, 0, 0, 0, 7),
    },
    {
      name: `${name}: "ü€😀\\,{}`,
      i: 2_147_483_647,
      b: Number.MAX_SAFE_INTEGER,
      d: -3e300,
      o: false,
      t: Date.UTC(2026, 10, 21),
    },
    { name: `${name}3\ud83d` },
  ]);

/** Executes statements with array parameters of every type. */
async function testArrays(database: Database): Promise<void> {
  await database.query(`CREATE TABLE kinds (name text PRIMARY KEY, i integer, b bigint,
    d double precision, o boolean, t timestamptz)`);
  await database.execute(insert, rows('first'));
  const storedRows = await database.query(`SELECT * FROM kinds`);
  expect(storedRows).toEqual([
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
    { name: 'first3\ufffd', i: null, b: null, d: null, o: null, t: null },
  ]);
  await expect(database.execute(insert, rows('first'))).rejects.toMatchObject({ code: '23505' });
  const insertedRows = await database.execute<{ i: number; b: number; t: Date }>(
    `${insert} RETURNING i, b, t`,
    rows('second'),
  );
  expect(insertedRows[1]).toEqual({
    i: 2_147_483_647,
    b: Number.MAX_SAFE_INTEGER,
    t: new Date('2026-11-21T00:00:00.000Z'),
  });
  for (const invalidRow of [{ i: NaN }, { i: 1.5 }, { i: 2 ** 31 }, { b: 0.5 }, { b: Infinity }]) {
    const params = buildArrays(columns, [{ name: 'wrong', ...invalidRow }]);
    await expect(database.execute(insert, params)).rejects.toThrow();
  }
  expect(() => buildArrays(columns, [{ name: 'wrong', t: NaN }])).toThrow(RangeError);
  const failedTransaction = database.transaction(async (queries) => {
    await queries.execute(insert, rows('third'));
    throw new Error('stop');
  });
  await expect(failedTransaction).rejects.toThrow('stop');
  expect(await database.query('SELECT count(*) AS count FROM kinds')).toEqual([{ count: 6 }]);
}

test('the embedded database accepts arrays of every type', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trueward-'));
  await copyEmptyDatabase(join(folder, 'database'));
  const database = await openPGlite(join(folder, 'database'), () => undefined);
  try {
    await testArrays(database);
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

    test('PostgreSQL accepts arrays of every type', async () => {
      await testArrays(database);
      const namedStatements = await database.query('SELECT name FROM pg_prepared_statements');
      expect(namedStatements.length > 0).toBe(!pooler);
      await database.query('DROP TABLE kinds');
    });

    test('concurrent executions of the same statement each return their own rows', async () => {
      const numbers = Array.from({ length: 12 }, (_, index) => index);
      const rows = await Promise.all(
        numbers.map((number) =>
          database.execute('SELECT $1::integer AS number, pg_sleep(0.01)', [String(number)]),
        ),
      );
      expect(rows.map(([row]) => row?.['number'])).toEqual(numbers);
    });
  },
);
