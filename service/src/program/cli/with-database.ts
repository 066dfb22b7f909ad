import { randomBytes } from 'node:crypto';
import { type Config, readConfig } from '../config/config.ts';
import type { Power } from '../../access/powers.ts';
import { proveMasterKey } from '../../access/secret-box.ts';
import type { Clock } from '../../platform/time.ts';
import { createIds, type MakeId } from '../../platform/ids.ts';
import type { Database, Queries } from '../../store/database.ts';
import { type DatabaseClock, openDatabaseClock } from '../../store/database-clock.ts';
import { migrate } from '../../store/migrate.ts';
import { CommandError, printMessage } from './command.ts';

/** The context of a command that uses the database. */
export interface DatabaseContext {
  database: Database;
  config: Config;
  /** Follows the database's clock. */
  clock: DatabaseClock;
  makeId: MakeId;
  /** Names of the migrations that were applied when the database was opened. */
  appliedMigrations: string[];
}

/** How a command uses the database. */
interface Use {
  /** What the command does that requires the master key. */
  power?: Power;
  /** Whether the command creates an embedded database that doesn't exist. Default: false, so that a wrong folder is noticed. */
  creates?: boolean;
}

/**
 * Opens and migrates the configured database, runs `work`, and closes the database.
 *
 * @throws MasterKeyError when the command has a power, and the configured master key is not the service's.
 * @throws CommandError when there is no database, and the command doesn't create one.
 */
export async function withDatabase<T>(
  work: (context: DatabaseContext) => Promise<T>,
  { power, creates = false }: Use = {},
): Promise<T> {
  const config = readConfig(process.env);
  // Imported lazily, because the embedded database is slow to load.
  const { isDatabaseCreated, openDatabase } = await import('../../store/open-database.ts');
  if (!creates && !isDatabaseCreated(config))
    throw new CommandError(
      `There is no database in ${config.dataDirectory}: correct TRUEWARD_DATA_DIR, or create one with the command migrate or start.`,
    );
  const database = await openDatabase(config, {
    onInitialize: () => printMessage('Creating a new database; this takes a few seconds.'),
    onError: (error) => printMessage(`A database connection failed: ${error.message}`),
  });
  try {
    const appliedMigrations = await migrate(database, {
      onApply: (name) => printMessage(`Applying migration ${name}`),
      onDistribute: (table, placement) =>
        printMessage(
          placement === 'coordinator'
            ? `Citus: ${table} stays on the coordinator`
            : `Citus: distributing ${table} by account`,
        ),
      onNewer: (names) =>
        printMessage(`The database schema is newer than this build (${names.join(', ')}).`),
      onWait: printMessage,
      waitMs: config.migrationWaitMs,
    });
    if (power !== undefined) await proveMasterKey(database, config);
    const clock = await openDatabaseClock({
      database,
      embedded: config.databaseUrl === undefined,
      log: { warn: (_details: unknown, text?: string) => printMessage(text ?? '') },
    });
    try {
      const makeId = createIds(clock, randomBytes);
      return await work({ database, config, clock, makeId, appliedMigrations });
    } finally {
      clock.stop();
    }
  } finally {
    await database.close();
  }
}

interface AccountOptions {
  account?: string | undefined;
  'new-account'?: string | undefined;
}

/**
 * Returns the account to use: a new account if `new-account` is set, otherwise the account that `account` specifies or,
 * by default, the only account. If there are no accounts yet, creates one.
 */
export async function chooseAccount(
  queries: Queries,
  { clock, makeId }: { clock: Clock; makeId: MakeId },
  { account, 'new-account': newName }: AccountOptions,
): Promise<string> {
  const rows = await queries.query<{ account_id: string; name: string }>(
    'SELECT account_id, name FROM accounts ORDER BY account_id',
  );
  if (newName === undefined && account !== undefined) {
    if (rows.some(({ account_id }) => account_id === account)) return account;
    throw new CommandError(`Account ${account} does not exist. ${formatAccounts(rows)}`);
  }
  const [firstAccount, ...otherAccounts] = rows;
  if (newName === undefined && firstAccount) {
    if (otherAccounts.length === 0) return firstAccount.account_id;
    throw new CommandError(
      `There are several accounts: pass --account <id>. ${formatAccounts(rows)}`,
    );
  }
  const id = makeId('account');
  await queries.query('INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)', [
    id,
    newName ?? 'Main',
    new Date(clock.nowMs()),
  ]);
  return id;
}

const formatAccounts = (rows: { account_id: string; name: string }[]): string =>
  `Accounts: ${rows.map(({ account_id, name }) => `${account_id} (${JSON.stringify(name)})`).join(', ') || 'none'}.`;
