import { createHash } from 'node:crypto';
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
import { knownAddresses } from './migrations/0110-known-addresses.ts';

interface Migration {
  /** With `breaking` in it where versions that do not know it cannot go on. */
  name: string;
  statements: readonly string[];
}

interface Applied {
  name: string;
  checksum: string;
}

/** In order; a migration that has been released never changes again. */
const migrations: readonly Migration[] = [
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
  knownAddresses,
];

export interface MigrateOptions {
  onApply?(name: string): void;
  /** Migrations of a newer version are there, with which this one goes on: a rolling upgrade. */
  onNewer?(names: string[]): void;
  /** Another session is in the way; the text says which. */
  onWait?(text: string): void;
  /** How long to wait for it, in milliseconds; a minute by default. */
  waitMs?: number;
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
  const { onApply, onNewer, onWait, waitMs = 60_000 } = options;
  const applied = await readApplied(database);
  const newer = refuseUnknown(applied);
  if (newer.length > 0) onNewer?.(newer);
  if (migrations.length <= applied.length) return [];
  if (applied.length === 0) await makeTables(database);
  return withMigrationLock(database, { onWait, waitMs }, (queries) =>
    applyMissing(queries, onApply),
  );
}

/** The names of all migrations that this version knows, in order. */
export const migrationNames = (): string[] => migrations.map(({ name }) => name);

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

async function applyMissing(
  queries: Queries,
  onApply: MigrateOptions['onApply'],
): Promise<string[]> {
  const applied = await readApplied(queries);
  refuseUnknown(applied);
  const missing = migrations.slice(applied.length);
  for (const migration of missing) {
    onApply?.(migration.name);
    for (const statement of migration.statements) await queries.query(statement);
    await queries.query(
      `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', $1, $2)`,
      [migration.name, checksum(migration)],
    );
  }
  return missing.map(({ name }) => name);
}

/** Hands back the names of those that a newer version added. */
function refuseUnknown(applied: Applied[]): string[] {
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

const checksum = (migration: Migration): string =>
  createHash('sha256').update(migration.statements.join(';\n')).digest('hex');
