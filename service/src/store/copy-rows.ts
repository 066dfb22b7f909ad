import type { Database, Queries } from './database.ts';

/** Thrown when a database can't be copied. The message contains the reason. */
export class CopyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CopyError';
  }
}

const rowsPerStatement = 500;

/**
 * Copies all rows into an empty database with the same schema, in one transaction: the target gets either all of them
 * or none. The source is read as one consistent snapshot. Returns the number of rows.
 *
 * @throws CopyError when the target has rows.
 */
export function copyRows(
  source: Database,
  target: Database,
  onProgress: (rows: number) => void,
): Promise<number> {
  const options = { noTimeout: true };
  return target.transaction(
    (to) => source.transaction((from) => copyTables(from, to, onProgress), options),
    options,
  );
}

async function copyTables(
  from: Queries,
  to: Queries,
  onProgress: (rows: number) => void,
): Promise<number> {
  await from.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  // Both databases then read and write the same text for a time.
  for (const queries of [from, to]) await queries.query(`SET LOCAL timezone = 'UTC'`);
  const tables = await listTables(from);
  for (const { table } of tables) await requireEmpty(to, table);
  let copied = 0;
  for (const { table, columns } of tables) {
    for await (const rows of readRows(from, table)) {
      await to.query(
        `INSERT INTO ${table} (${columns})
          SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::text::jsonb)`,
        [`[${rows.join(',')}]`],
      );
      onProgress((copied += rows.length));
    }
  }
  // Delivery leases belong to processes that use the source. Tracker requests keep theirs until they expire: such a
  // request may have been sent, and most must not be sent twice.
  await to.query('UPDATE delivery_queue SET lease_until = NULL WHERE lease_until IS NOT NULL');
  return copied;
}

/**
 * Lists the quoted names of all tables, except those for migrations, and of their columns, except those that the database
 * computes.
 */
const listTables = (queries: Queries): Promise<{ table: string; columns: string }[]> =>
  queries.query(
    `SELECT quote_ident(relname) AS table, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
      FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN ('migrations', 'migration_lock')
        AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
      GROUP BY relname ORDER BY relname`,
  );

async function* readRows(queries: Queries, table: string): AsyncGenerator<string[]> {
  await queries.query(
    `DECLARE read_rows NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ${table} t`,
  );
  for (;;) {
    const rows = await queries.query<{ row: string }>(`FETCH ${rowsPerStatement} FROM read_rows`);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row);
  }
  await queries.query('CLOSE read_rows');
}

async function requireEmpty(queries: Queries, table: string): Promise<void> {
  const [row] = await queries.query<{ used: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${table}) AS used`,
  );
  if (row?.used === true)
    throw new CopyError(`The target database is not empty (${table} has rows). Use a new one.`);
}
