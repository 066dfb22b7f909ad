import { migrate } from '../../store/migrate.ts';
import { copyRows } from '../../store/copy-rows.ts';
import { readConfig } from '../config/config.ts';
import {
  type Command,
  createProgress,
  printMessage,
  readArguments,
  UsageError,
} from './command.ts';
import { withDatabase } from './with-database.ts';

export const copyCommand: Command = {
  name: 'copy',
  summary: 'copy the whole database into an empty PostgreSQL database',
  help: `Usage: trueward-service copy --to <url>

  --to <url>  the connection string of the empty PostgreSQL database

Copies the configured database, which can be the embedded one, in one transaction. If the copy fails or is
interrupted, the target stays empty, and the source never changes. Stop the service first: what it writes
after the copy has begun is not copied.

Secrets stay encrypted, so start the service on the target with the same master key (master.key in the data
folder, or TRUEWARD_MASTER_KEY).

Example: from the embedded database to a PostgreSQL server
  trueward-service copy --to postgres://…`,
  async run(args) {
    const { values } = readArguments(args, { to: { type: 'string' } });
    const url = values.to;
    if (url === undefined) throw new UsageError('No target: pass --to.');
    const rows = await withDatabase(
      async ({ database, config }) => {
        const target = readConfig({ ...process.env, DATABASE_URL: url });
        const { openDatabase } = await import('../../store/open-database.ts');
        const targetDatabase = await openDatabase(target, {
          onInitialize: () => undefined,
          onError: (error) => printMessage(`A database connection failed: ${error.message}`),
        });
        try {
          await migrate(targetDatabase, { onWait: printMessage, waitMs: config.migrationWaitMs });
          const onRows = createProgress((done) => `${done} rows…`);
          return await copyRows(database, targetDatabase, onRows);
        } finally {
          await targetDatabase.close();
        }
      },
      { power: 'export' },
    );
    printMessage(`Copied ${rows} rows.`);
  },
};
