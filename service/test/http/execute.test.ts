import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
import { startPrivatePostgres } from '../private-postgres.ts';

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

test('so does PostgreSQL, and without names behind a pooler', async ({ skip }) => {
  const postgres = await startPrivatePostgres();
  if (!postgres) return skip('There is no PostgreSQL on this machine.');
  const limits = { poolSize: 2, timeoutMs: 10_000, pooler: false };
  try {
    for (const pooler of [false, true]) {
      const database = openPostgres(postgres.url, () => undefined, { ...limits, pooler });
      await tryOut(database);
      const named = await database.query('SELECT name FROM pg_prepared_statements');
      expect(named.length > 0).toBe(!pooler);
      await database.query('DROP TABLE kinds');
      await database.close();
    }
  } finally {
    await postgres.stop();
  }
});
