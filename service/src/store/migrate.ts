import { createHash } from 'node:crypto';
import { buildIndex, type Index, indexStatement } from './build-index.ts';
import type { Database, Queries } from './database.ts';
import { withMigrationLock } from './migration-lock.ts';
import { initial } from './migrations/0001-initial.ts';
import { operators } from './migrations/0010-operators.ts';
import { traffic } from './migrations/0020-traffic.ts';
import { panel } from './migrations/0030-panel.ts';
import { upkeep } from './migrations/0040-upkeep.ts';
import { liveTail } from './migrations/0050-live-tail.ts';
import { uploads } from './migrations/0051-uploads.ts';
import { deliveries } from './migrations/0060-deliveries.ts';
import { webhookProbes } from './migrations/0070-webhook-probes.ts';
import { plausibleTimes } from './migrations/0080-plausible-times.ts';
import { watchOffset } from './migrations/0081-watch-offset.ts';
import { dailyReservations, dailyReservationsIndex } from './migrations/0082-daily-reservations.ts';
import { keyLimits } from './migrations/0090-key-limits.ts';
import { knownAddresses } from './migrations/0110-known-addresses.ts';
import { rollupDeltas } from './migrations/0120-rollup-deltas.ts';
import { deliverySpace } from './migrations/0130-delivery-space.ts';
import { timelines } from './migrations/0140-timelines.ts';
import { timelineIds } from './migrations/0141-timeline-ids.ts';

/**
 * A change of the schema. Indexes on tables that may be large are a migration of their own: on a
 * server they are built without blocking writes.
 */
export type Migration =
  | {
      /** With `breaking` in it where versions that do not know it cannot go on. */
      name: string;
      statements: readonly string[];
    }
  | { name: string; indexes: readonly Index[] };

interface Applied {
  name: string;
  checksum: string;
}

/** In order; a migration that has been released never changes again. */
export const allMigrations: readonly Migration[] = [
  initial,
  operators,
  traffic,
  panel,
  upkeep,
  liveTail,
  uploads,
  deliveries,
  webhookProbes,
  plausibleTimes,
  watchOffset,
  dailyReservations,
  dailyReservationsIndex,
  keyLimits,
  knownAddresses,
  rollupDeltas,
  deliverySpace,
  timelines,
  timelineIds,
];

export interface MigrateOptions {
  onApply?(name: string): void;
  /** Migrations of a newer version are there, with which this one goes on: a rolling upgrade. */
  onNewer?(names: string[]): void;
  /** Another session is in the way; the text says which. */
  onWait?(text: string): void;
  /** How long to wait for it, in milliseconds; a minute by default. */
  waitMs?: number;
  /** In order. Default: all migrations of this version. */
  migrations?: readonly Migration[];
}

/**
 * Brings the schema up to date and hands back what it applied. Several processes may start at once:
 * a locked row lets one work. Where nothing is to be done, nothing is locked and no right to change
 * tables is needed.
 *
 * @throws Error when the database holds a breaking migration that this version does not know, or
 *   another one than it knows; or when somebody blocks it for too long.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { onApply, onNewer, onWait, waitMs = 60_000, migrations = allMigrations } = options;
  const before = await readApplied(database);
  const newer = refuseUnknown(before, migrations);
  if (newer.length > 0) onNewer?.(newer);
  if (migrations.length <= before.length) return [];
  if (before.length === 0) await makeTables(database);
  // The indexes of a first start are built on empty tables, in the transaction of everything else.
  const maintain = before.length === 0 ? undefined : database.maintain;
  const done: string[] = [];
  for (;;) {
    const names = await withMigrationLock(database, { onWait, waitMs }, async (queries) => {
      const applied = await readApplied(queries);
      refuseUnknown(applied, migrations);
      const next = nextTogether(migrations.slice(applied.length), maintain !== undefined);
      for (const migration of next) {
        onApply?.(migration.name);
        if ('indexes' in migration && maintain !== undefined) {
          for (const index of migration.indexes)
            await buildIndex(database, maintain, index, waitMs);
        } else {
          for (const statement of statementsOf(migration)) await queries.query(statement);
        }
        await queries.query(
          `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', $1, $2)`,
          [migration.name, checksum(migration)],
        );
      }
      return next.map(({ name }) => name);
    });
    if (names.length === 0) return done;
    done.push(...names);
  }
}

/**
 * The migrations that one transaction applies. A concurrent index build waits for every transaction that
 * has changed its table, so it gets a transaction that changes nothing else.
 */
function nextTogether(missing: readonly Migration[], concurrently: boolean): readonly Migration[] {
  if (!concurrently) return missing;
  const index = missing.findIndex((migration) => 'indexes' in migration);
  return index === -1 ? missing : missing.slice(0, Math.max(1, index));
}

/** The names of all migrations that this version knows, in order. */
export const migrationNames = (): string[] => allMigrations.map(({ name }) => name);

async function readApplied(queries: Queries): Promise<Applied[]> {
  const [row] = await queries.query<{ there: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS there`,
  );
  if (row?.there !== true) return [];
  return queries.query<Applied>('SELECT name, checksum FROM migrations ORDER BY name');
}

const alreadyThere = new Set(['23505', '42P07', '42710']);

/** Two processes that make a table at once both see that there is none; then one of them fails. */
async function makeTables(database: Database): Promise<void> {
  const statements = [
    'CREATE TABLE IF NOT EXISTS migration_lock (account_id text PRIMARY KEY)',
    `CREATE TABLE IF NOT EXISTS migrations (account_id text NOT NULL, name text NOT NULL,
      checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (account_id, name))`,
  ];
  for (const statement of statements) {
    await database.query(statement).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && alreadyThere.has(String(error.code))) return;
      throw error;
    });
  }
}

/** Hands back the names of those that a newer version added. */
function refuseUnknown(applied: Applied[], migrations: readonly Migration[]): string[] {
  applied.slice(0, migrations.length).forEach(({ name, checksum: stored }, index) => {
    const known = migrations[index];
    if (known?.name !== name || checksum(known) !== stored) {
      throw new Error(
        `The migration ${name} in the database differs from the one of this version.`,
      );
    }
  });
  const newer = applied.slice(migrations.length).map(({ name }) => name);
  const breaking = newer.find((name) => name.includes('breaking'));
  if (breaking === undefined) return newer;
  throw new Error(
    `The database has the migration ${breaking}, with which this version cannot work: start a newer one.`,
  );
}

const statementsOf = (migration: Migration): readonly string[] =>
  'statements' in migration ? migration.statements : migration.indexes.map(indexStatement);

const checksum = (migration: Migration): string =>
  createHash('sha256').update(statementsOf(migration).join(';\n')).digest('hex');
