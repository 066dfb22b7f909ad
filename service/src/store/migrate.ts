import { createHash } from 'node:crypto';
import { distributeTables, rejectWorker, type TablePlacement } from './citus.ts';
import type { Database, Queries } from './database.ts';
import { withMigrationLock } from './migration-lock.ts';
import { accountRetention } from './migrations/account-retention.ts';
import { initial } from './migrations/initial.ts';
import { rollupsOfObjects } from './migrations/rollups-of-objects.ts';
import { sourceCallbacks } from './migrations/source-callbacks.ts';
import { grantBudgets, walletEntriesByTime } from './migrations/wallet-reports.ts';
/** An index that a migration adds. */
interface Index {
  name: string;
  table: string;
  /** The part of the `CREATE INDEX` statement after the table name: the columns and an optional condition. */
  on: string;
}

/**
 * A schema change. Indexes on large tables have their own migrations, so that a server can build them without blocking
 * writes.
 */
export type Migration =
  | {
      /** Contains `breaking` if earlier releases can't run on the new schema. */
      name: string;
      statements: readonly string[];
    }
  | { name: string; indexes: readonly Index[] };

interface AppliedMigration {
  name: string;
  checksum: string;
}

/** All migrations, in order. Never change a released migration. Append new ones. */
export const allMigrations: readonly Migration[] = [
  initial,
  grantBudgets,
  walletEntriesByTime,
  sourceCallbacks,
  accountRetention,
  rollupsOfObjects,
];

/** Thrown when this release can't run on the database's schema. */
export class SchemaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SchemaError';
  }
}

export interface MigrateOptions {
  onApply?(name: string): void;
  /** Called before a table is distributed over a Citus cluster. */
  onDistribute?(table: string, placement: TablePlacement): void;
  /** Called when the database has migrations from a newer, compatible release, as during a rolling upgrade. */
  onNewer?(names: string[]): void;
  /** Called when another session blocks the migration. The text describes that session. */
  onWait?(text: string): void;
  /** How long to wait for a session that blocks the migration. Default: 60 s. */
  waitMs?: number;
  /** The migrations to apply, in order. Default: all migrations in this release. */
  migrations?: readonly Migration[];
}

/**
 * Brings the schema up to date. Returns the names of the migrations that it applied. If several processes start at the
 * same time, only one of them migrates. If the schema is up to date, the call does not acquire the migration lock
 * and needs no DDL privileges.
 *
 * @throws SchemaError when the database has an unknown breaking migration, or a migration that differs from this
 * release's.
 * @throws Error when another session blocks the migration for too long.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { onDistribute, onWait, waitMs = 60_000 } = options;
  const schemaDatabase = database.schema ?? database;
  const appliedNames = await applyMigrations(schemaDatabase, options);
  await distributeTables(schemaDatabase, { onDistribute, onWait, waitMs });
  return appliedNames;
}

async function applyMigrations(database: Database, options: MigrateOptions): Promise<string[]> {
  const { onApply, onNewer, onWait, waitMs = 60_000, migrations = allMigrations } = options;
  const appliedBefore = await readApplied(database);
  const newerNames = compareApplied(appliedBefore, migrations);
  if (newerNames.length > 0) onNewer?.(newerNames);
  if (migrations.length <= appliedBefore.length) return [];
  await rejectWorker(database);
  if (appliedBefore.length === 0) await createMigrationTables(database);
  // On the first start, tables are empty, so their indexes are built in the same transaction.
  const maintain = appliedBefore.length === 0 ? undefined : database.maintain;
  const appliedNames: string[] = [];
  for (;;) {
    const names = await withMigrationLock(database, { onWait, waitMs }, async (queries) => {
      const applied = await readApplied(queries);
      compareApplied(applied, migrations);
      const next = selectNextMigrations(migrations.slice(applied.length), maintain !== undefined);
      for (const migration of next) {
        onApply?.(migration.name);
        if ('indexes' in migration && maintain !== undefined) {
          for (const index of migration.indexes)
            await buildIndex(database, maintain, index, waitMs);
        } else {
          for (const statement of listStatements(migration)) await queries.query(statement);
        }
        await queries.query(
          `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', $1, $2)`,
          [migration.name, computeChecksum(migration)],
        );
      }
      return next.map(({ name }) => name);
    });
    if (names.length === 0) return appliedNames;
    appliedNames.push(...names);
  }
}

/**
 * Returns the migrations for the next transaction. A concurrent index build waits for all transactions that have
 * changed its table, so a migration with an index gets its own transaction.
 */
function selectNextMigrations(
  missingMigrations: readonly Migration[],
  concurrently: boolean,
): readonly Migration[] {
  if (!concurrently) return missingMigrations;
  const index = missingMigrations.findIndex((migration) => 'indexes' in migration);
  return index === -1 ? missingMigrations : missingMigrations.slice(0, Math.max(1, index));
}

/**
 * Builds an index while other sessions read and write the table. `CREATE INDEX CONCURRENTLY` doesn't support
 * partitioned tables. For such a table, builds an index on each partition first. The index on the table is then created
 * instantly, because it attaches the partition indexes. An invalid index left behind by an interrupted build is dropped
 * and rebuilt.
 *
 * The build waits for all transactions that have a snapshot, so the caller's transaction must not have one. A statement
 * with parameters keeps its snapshot until the next statement. Therefore, the last statement of the caller's
 * transaction must have no parameters, and this function reads the catalog outside that transaction.
 */
async function buildIndex(
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
  const partitionIndexes = partitions.map(({ name }) => ({
    ...index,
    name: `${index.name}_${name.replace(`${index.table}_`, '')}`,
    table: name,
  }));
  const concurrentIndexes = partitionIndexes.length > 0 ? partitionIndexes : [index];
  const invalidIndexes = await database.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index
      WHERE NOT indisvalid AND indexrelid::regclass::text = ANY ($1)`,
    [concurrentIndexes.map(({ name }) => name)],
  );
  await maintain(
    [
      ...invalidIndexes.map(({ name }) => `DROP INDEX CONCURRENTLY ${name}`),
      ...concurrentIndexes.map(
        ({ name, table, on }) =>
          `CREATE INDEX CONCURRENTLY IF NOT EXISTS ${name} ON ${table} ${on}`,
      ),
      ...(partitionIndexes.length > 0
        ? [`CREATE INDEX IF NOT EXISTS ${index.name} ON ${index.table} ${index.on}`]
        : []),
    ],
    lockTimeoutMs,
  );
}

/** Returns the names of all migrations in this release, in order. */
export const migrationNames = (): string[] => allMigrations.map(({ name }) => name);

async function readApplied(queries: Queries): Promise<AppliedMigration[]> {
  const [row] = await queries.query<{ exists: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS exists`,
  );
  if (row?.exists !== true) return [];
  return queries.query<AppliedMigration>('SELECT name, checksum FROM migrations ORDER BY name');
}

/** SQLSTATEs for a unique violation, a duplicate table, and a duplicate object. */
const duplicateStates = new Set(['23505', '42P07', '42710']);

/**
 * Creates the tables for migrations. If two processes create a table at the same time, one of them fails even with `IF
 * NOT EXISTS`.
 */
async function createMigrationTables(database: Database): Promise<void> {
  const statements = [
    'CREATE TABLE IF NOT EXISTS migration_lock (account_id text PRIMARY KEY)',
    `CREATE TABLE IF NOT EXISTS migrations (account_id text NOT NULL, name text NOT NULL,
      checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (account_id, name))`,
  ];
  for (const statement of statements) {
    await database.query(statement).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && duplicateStates.has(String(error.code)))
        return;
      throw error;
    });
  }
}

/** Checks the applied migrations. Returns the names of those that were added by a newer release. */
function compareApplied(applied: AppliedMigration[], migrations: readonly Migration[]): string[] {
  applied.slice(0, migrations.length).forEach(({ name, checksum: stored }, index) => {
    const migration = migrations[index];
    if (migration?.name === name && computeChecksum(migration) === stored) return;
    throw new SchemaError(
      `The database was created by a different build (its migration ${name} differs) and cannot be upgraded. Use an empty DATABASE_URL or a new TRUEWARD_DATA_DIR.`,
    );
  });
  const newerNames = applied.slice(migrations.length).map(({ name }) => name);
  const breakingName = newerNames.find((name) => name.includes('breaking'));
  if (breakingName === undefined) return newerNames;
  throw new SchemaError(
    `The database contains migration ${breakingName}, which this release does not support. Upgrade to a newer release.`,
  );
}

const formatIndexStatement = ({ name, table, on }: Index): string =>
  `CREATE INDEX ${name} ON ${table} ${on}`;

const listStatements = (migration: Migration): readonly string[] =>
  'statements' in migration ? migration.statements : migration.indexes.map(formatIndexStatement);

const computeChecksum = (migration: Migration): string =>
  createHash('sha256').update(listStatements(migration).join(';\n')).digest('hex');
