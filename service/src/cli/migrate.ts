import { type Command, readArguments, tell } from './command.ts';
import { withDatabase } from './with-database.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'make or change the tables of the database',
  help: `Usage: trueward-service migrate

The start does this too; run it before where several processes start at once, or
where the service has no right to change tables. Doing it again changes nothing.`,
  async run(args) {
    readArguments(args, {});
    await withDatabase(async ({ migrated }) => tell({ migrated }));
  },
};
