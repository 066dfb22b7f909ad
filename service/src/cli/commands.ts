import { archiveCommand } from './archive.ts';
import { configCommand, environmentHelp } from './config.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand, importCommand } from './transfer.ts';
import { keyCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { masterKeyCommands, rotateReceiptKeyCommand } from './rotate-keys.ts';
import { inviteUserCommand } from './users.ts';
import { type Command, readArguments, printResult } from './command.ts';
import { withDatabase } from './with-database.ts';

const startCommand: Command = {
  name: 'start',
  summary: 'run the service until SIGTERM or Ctrl-C',
  help: `Usage: trueward-service start

Prints one line of JSON, {"ready":true,"url":…}, when it is ready; logs go to standard error.

${environmentHelp}`,
  async run(args) {
    readArguments(args, {});
    // Loading the whole service takes longer than most commands run.
    const { runService } = await import('./run-service.ts');
    await runService();
  },
};

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'create or update the database schema',
  help: `Usage: trueward-service migrate

start does this too. Run it first if several processes start at once, or if the service
may not change tables. Running it again changes nothing.`,
  async run(args) {
    readArguments(args, {});
    await withDatabase(async ({ migrated }) => printResult({ migrated }));
  },
};

/** All commands of `trueward-service`, in the order of the help. */
export const commands: readonly Command[] = [
  startCommand,
  configCommand,
  migrateCommand,
  ...keyCommands,
  inviteUserCommand,
  rotateReceiptKeyCommand,
  ...masterKeyCommands,
  listenCommand,
  exportCommand,
  importCommand,
  archiveCommand,
  doctorCommand,
];
