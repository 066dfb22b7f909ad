import { createHash } from 'node:crypto';
import type { Database } from './database.ts';
import { initial } from './migrations/0001-initial.ts';
import { operators } from './migrations/0010-operators.ts';
import { traffic } from './migrations/0020-traffic.ts';

interface Migration {
  name: string;
  statements: readonly string[];
}

/** In order; a migration that has been released never changes again. */
const migrations: readonly Migration[] = [initial, operators, traffic];

/**
 * Brings the schema up to date and hands back what it applied. Several processes may start at once:
 * a locked row lets one work.
 *
 * @throws Error when the database holds a migration that this version does not know, or another one.
 */
export async function migrate(
  database: Database,
  onApply: (name: string) => void = () => undefined,
): Promise<string[]> {
  await database.query('CREATE TABLE IF NOT EXISTS migration_lock (account_id text PRIMARY KEY)');
  await database.query(
    `CREATE TABLE IF NOT EXISTS migrations (account_id text NOT NULL, name text NOT NULL,
      checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (account_id, name))`,
  );
  return database.transaction(async (queries) => {
    await queries.query(
      `INSERT INTO migration_lock VALUES ('service')
        ON CONFLICT (account_id) DO UPDATE SET account_id = excluded.account_id`,
    );
    const applied = await queries.query<{ name: string; checksum: string }>(
      'SELECT name, checksum FROM migrations ORDER BY name',
    );
    refuseUnknown(applied);
    const missing = migrations.slice(applied.length);
    for (const migration of missing) {
      onApply(migration.name);
      for (const statement of migration.statements) await queries.query(statement);
      await queries.query(
        `INSERT INTO migrations (account_id, name, checksum) VALUES ('service', $1, $2)`,
        [migration.name, checksum(migration)],
      );
    }
    return missing.map(({ name }) => name);
  });
}

/** The names of all migrations that this version knows, in order. */
export const migrationNames = (): string[] => migrations.map(({ name }) => name);

function refuseUnknown(applied: { name: string; checksum: string }[]): void {
  applied.forEach(({ name, checksum: stored }, index) => {
    const known = migrations[index];
    if (known?.name !== name) {
      throw new Error(
        `The database has the migration ${name}, which this version does not know: it was written by a newer version.`,
      );
    }
    if (checksum(known) !== stored) {
      throw new Error(
        `The migration ${name} in the database differs from the one of this version.`,
      );
    }
  });
}

const checksum = (migration: Migration): string =>
  createHash('sha256').update(migration.statements.join(';\n')).digest('hex');
