import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { rejectUnsuitableSettings } from '../../src/store/check-settings.ts';
import type { Database, Queries } from '../../src/store/database.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import {
  createEmptyPostgresDatabase,
  createPostgresDatabase,
  hasPostgres,
} from '../postgres-database.ts';

/** Session defaults that a server, a database or a role may have, and that change what statements mean. */
const hostileSettings: readonly [name: string, value: string][] = [
  ['DateStyle', 'German'],
  ['DateStyle', 'SQL, DMY'],
  ['TimeZone', 'Asia/Kolkata'],
  ['IntervalStyle', 'iso_8601'],
  ['bytea_output', 'escape'],
  ['standard_conforming_strings', 'off'],
  ['extra_float_digits', '-15'],
  ['array_nulls', 'off'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_isolation', 'repeatable read'],
  ['transform_null_equals', 'on'],
  ['backslash_quote', 'off'],
  ['default_transaction_deferrable', 'on'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['quote_all_identifiers', 'on'],
  ['client_min_messages', 'error'],
  ['statement_timeout', '1'],
  ['lock_timeout', '1'],
  ['idle_in_transaction_session_timeout', '1'],
];

const at = new Date('2026-11-01T05:30:00.123Z');
const statement = `SELECT $1::timestamptz AS at, $1::timestamptz + interval '1 day 2 hours' AS later,
  date_trunc('day', $1::timestamptz) AS day, $2::jsonb AS document, '\\n' AS text, $3::bytea AS bytes,
  0.1::float8 + 0.2::float8 AS sum, 9007199254740991::bigint AS big, $4::text = NULL AS "isNull",
  (SELECT array_agg(coalesce(value, 'none')) FROM unnest($5::text[]) AS value) AS values,
  current_setting('transaction_isolation') AS isolation, to_regclass('pg_class')::text AS name,
  current_setting('client_min_messages') AS messages,
  current_setting('idle_in_transaction_session_timeout') <> '1ms' AS "hasTime"`;
const params = [
  at,
  { text: `it's \\ "this"` },
  Buffer.from([0, 92, 255]),
  'a',
  ['a', null, 'NULL'],
];
const expected = {
  at,
  later: new Date('2026-11-02T07:30:00.123Z'),
  day: new Date('2026-11-01T00:00:00.000Z'),
  document: { text: `it's \\ "this"` },
  text: '\\n',
  bytes: Buffer.from([0, 92, 255]),
  sum: 0.1 + 0.2,
  big: 9_007_199_254_740_991,
  isNull: null,
  values: ['a', 'none', 'NULL'],
  isolation: 'read committed',
  name: 'pg_class',
  messages: 'notice',
  hasTime: true,
};

/** Runs the statement in every way in which the service runs statements. */
async function readValues(database: Database): Promise<unknown[]> {
  const pools = [database, database.reads, database.changes, database.background];
  const read = async (queries: Queries): Promise<unknown[]> => [
    ...(await queries.query(statement, params)),
    ...(await queries.execute(statement, params)),
  ];
  const rows = pools.map(async (pool) => [
    ...(await read(pool ?? database)),
    ...(await (pool ?? database).transaction(read)),
  ]);
  return (await Promise.all(rows)).flat();
}

const limits = { poolSize: 2, timeoutMs: 10_000, lockTimeoutMs: 2_000 };

// One database, because creating one takes longer than the rest.
let url = '';
let admin: pg.Client;
beforeAll(async () => {
  if (!hasPostgres) return;
  url = await createEmptyPostgresDatabase();
  admin = new pg.Client(inject('postgresUrl'));
  await admin.connect();
});
afterAll(() => admin?.end());

async function setDefaults(settings: Readonly<Record<string, string>>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await admin.query(`ALTER DATABASE ${name} RESET ALL`);
  for (const [setting, value] of Object.entries(settings))
    await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${pg.escapeLiteral(value)}`);
}

test.runIf(hasPostgres).each(hostileSettings)(
  'with the default %s = %s, statements mean the same',
  async (name, value) => {
    await setDefaults({ [name]: value });
    const inUrl = encodeURIComponent(`-c ${name}=${value.replaceAll(' ', '\\ ')}`);
    for (const address of [url, `${url}?options=${inUrl}`]) {
      const database = openPostgres(address, console.error, { ...limits, pooler: false });
      expect(await readValues(database)).toEqual(Array(16).fill(expected));
      await rejectUnsuitableSettings(database);
      // Building an index may take hours.
      await database.maintain?.(['SELECT pg_sleep(0.01)'], 2_000);
      await database.close();
    }
  },
);

test.runIf(hasPostgres)('options in the URL that the service does not set are kept', async () => {
  const options = encodeURIComponent('-c search_path=ads -c statement_timeout=1');
  const database = openPostgres(`${url}?options=${options}&statement_timeout=2`, console.error, {
    ...limits,
    pooler: false,
  });
  const names = ['search_path', 'statement_timeout', 'TimeZone'];
  const [row] = await database.query(
    `SELECT ${names.map((name) => `current_setting('${name}') AS "${name}"`).join(', ')}`,
  );
  await database.close();
  expect(row).toEqual({ search_path: 'ads', statement_timeout: '10s', TimeZone: 'UTC' });
});

test.runIf(hasPostgres).each([
  ['DateStyle', 'German', /^.*DateStyle is German, .*expected ISO/],
  ['IntervalStyle', 'sql_standard', /IntervalStyle is sql_standard/],
  ['standard_conforming_strings', 'off', /standard_conforming_strings is off/],
  ['array_nulls', 'off', /array_nulls is off, expected on/],
  [
    'default_transaction_isolation',
    'serializable',
    /default_transaction_isolation is serializable/,
  ],
  ['transform_null_equals', 'on', /transform_null_equals is on/],
  ['quote_all_identifiers', 'on', /quote_all_identifiers is on/],
  ['client_min_messages', 'error', /client_min_messages is error, expected notice/],
  ['synchronous_commit', 'off', /synchronous_commit is off, expected on/],
  ['client_encoding', 'LATIN1', /client_encoding is LATIN1/],
])('behind a pooler, the default %s = %s is refused', async (name, value, message) => {
  await setDefaults({ [name]: value });
  const database = openPostgres(url, console.error, { ...limits, pooler: true });
  const check = rejectUnsuitableSettings(database);
  // node-postgres always sets the encoding itself, so that default has no effect.
  await (name === 'client_encoding' ? check : expect(check).rejects.toThrow(message));
  await database.close();
});

test.runIf(hasPostgres)('a database in another encoding is refused', async () => {
  const name = `${new URL(url).pathname.slice(1)}_latin1`;
  await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
  const database = openPostgres(url.replace(/[^/]*$/, name), console.error, {
    ...limits,
    pooler: false,
  });
  await expect(rejectUnsuitableSettings(database)).rejects.toThrow(
    /server_encoding is LATIN1, expected UTF8/,
  );
  await database.close();
  await admin.query(`DROP DATABASE ${name}`);
});

test.runIf(hasPostgres)(
  'ids are compared byte by byte, whatever the database’s locale',
  async () => {
    const client = new pg.Client(await createPostgresDatabase());
    await client.connect();
    const { rows } = await client.query<{ column: string }>(
      `SELECT format('%s.%s', c.relname, a.attname) AS column FROM pg_attribute a
        JOIN pg_class c ON c.oid = attrelid JOIN pg_collation l ON l.oid = attcollation
      WHERE c.relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
        AND attname IN ('id', 'decision_id', 'event_id', 'webhook_id', 'viewer') AND collname <> 'C'`,
    );
    await client.end();
    expect(rows).toEqual([]);
  },
);
