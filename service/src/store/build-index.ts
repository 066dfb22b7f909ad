import type { Database, Queries } from './database.ts';

/** An index as a migration adds it. */
export interface Index {
  name: string;
  table: string;
  /** What follows the table's name: columns, and a condition if there is one. */
  on: string;
}

export const indexStatement = ({ name, table, on }: Index): string =>
  `CREATE INDEX ${name} ON ${table} ${on}`;

/**
 * Builds an index while others read and write the table. `CREATE INDEX CONCURRENTLY` cannot work on a
 * partitioned table: there, each partition gets its index first, and the index of the table then takes
 * these over in an instant. An invalid index of an interrupted build is dropped and built again.
 *
 * The build waits for every transaction that has a snapshot. The caller's own has none as long as its
 * last statement had no parameters: a finished portal keeps its snapshot until the next statement. So
 * the catalog is read outside of it.
 */
export async function buildIndex(
  database: Queries,
  maintain: NonNullable<Database['maintain']>,
  index: Index,
  lockTimeoutMs: number,
): Promise<void> {
  const partitions = await database.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = to_regclass($1) ORDER BY 1`,
    [index.table],
  );
  const parts = partitions.map(({ name }) => ({
    ...index,
    name: `${index.name}_${name.replace(`${index.table}_`, '')}`,
    table: name,
  }));
  const concurrent = parts.length > 0 ? parts : [index];
  const broken = await database.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE NOT indisvalid AND indexrelid::regclass::text = ANY ($1)`,
    [concurrent.map(({ name }) => name)],
  );
  await maintain(
    [
      ...broken.map(({ name }) => `DROP INDEX CONCURRENTLY ${name}`),
      ...concurrent.map(
        ({ name, table, on }) =>
          `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${table} ${on}`,
      ),
      ...(parts.length > 0
        ? [`CREATE INDEX IF NOT EXISTS ${index.name} ON ${index.table} ${index.on}`]
        : []),
    ],
    lockTimeoutMs,
  );
}
